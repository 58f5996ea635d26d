#!/bin/bash
# formality_check.sh MODEL [RULES]: translates English sentences that address their reader formally, informally and as the
# text suggests, and counts how often the German has the form that was asked for, by the words of RULES
# (recipes/formality-en-de.txt). Neutral sentences follow: how many come out the same whatever is asked for. OUT=FOLDER
# keeps the translations; GANZ is the program. Sentences are written for this list.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 2 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
GANZ=${GANZ:-$here/build/release/cli/ganz} model=$1 rules=${2:-$here/recipes/formality-en-de.txt}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -z "${OUT:-}" ] || { mkdir -p "$OUT"; trap 'cp "$work"/*.en "$work"/*.de "$OUT"; rm -rf "$work"' EXIT; }

cat >"$work/addressed.en" <<'LINES'
Have you already fed the neighbour's parrot?
Could you hold this ladder for a moment?
You left your gloves on the tram yesterday.
I am calling you about the broken dishwasher.
Would you rather sit by the window or near the stove?
Please tell me when you have finished the report.
How long have you been waiting for the plumber?
Your bicycle is blocking the entrance.
We will send you the invoice by Friday.
Did you sleep well in the new apartment?
You can pick up your parcel at the bakery.
What did you think of the concert last night?
I would like to thank you for your patience.
If you need anything, just ring the bell.
You should take an umbrella with you today.
Where did you learn to juggle like that?
Can you explain this contract to me?
Your train leaves from platform nine.
I hope you are feeling better now.
May I offer you a cup of peppermint tea?
You have three new messages on your answering machine.
Do you mind if I open the skylight?
We are looking forward to your visit in spring.
You forgot to sign the second page.
Which of these lamps do you like best?
I did not want to disturb you at work.
Is this your first time in Leipzig?
You must not touch the wet paint.
Let me show you the way to the cellar.
Your brother told me that you play the cello.
Are you allergic to walnuts?
I can recommend this restaurant to you.
You look tired; did you work through the night?
When will you move into your new house?
Thank you for helping me with the suitcase.
Do you know how this coffee machine works?
You are welcome to bring your children.
I will never forget what you did for us.
Have you ever been to the island of Rügen?
Could you please repeat your last name?
Your password will expire in ten days.
What would you do without your calendar?
You do not have to decide right now.
I have been thinking about you all week.
Did anybody offer you a chair?
You can keep the book as long as you want.
Why did you not answer the phone?
Are you sure that you locked the garage?
We need your signature here, please.
You were right about the weather.
How do you like your eggs?
I saw you at the flea market on Sunday.
Will you be back before the shops close?
Your handwriting reminds me of my grandmother.
Do not worry, I will lend you my bicycle.
You seem to be very interested in mushrooms.
Can you see the lighthouse from your balcony?
I promise you that the cake will be ready.
Do you want sugar in your tea?
You speak German almost without an accent.
LINES
cat >"$work/neutral.en" <<'LINES'
The baker closed the shop at noon.
She put the keys on the shelf.
They painted the fence green.
It has been raining since Tuesday.
The minister did not comment on the figures.
Her sister works at the harbour.
The price of butter rose by four percent.
He repaired the radio without a manual.
Their garden is full of plums.
We missed the last ferry.
The bridge was built two hundred years ago.
I bought a second-hand piano.
The children are asleep.
Nobody saw the fox leave the yard.
The meeting begins at half past three.
LINES

# form_of FILE FORM: lines of its translation that have a form, as ganz prepare counts them
form_of() {
  "$GANZ" prepare --vocab "$model" --source "$work/addressed.en" --target "$1" --formality "$rules" --formality-share 1 \
    --out "$work/corpus" | sed -nE "s/^ +of $2 address +([0-9]+).*/\1/p" | grep . || echo 0
}
lines=$(wc -l <"$work/addressed.en")
for form in formal informal auto; do
  for text in addressed neutral; do
    "$GANZ" translate -q --model "$model" --format lines --formality $form "$work/$text.en" >"$work/$text.$form.de"
  done
  printf '%-10s%4d formal%5d informal  of %d\n' "$form:" "$(form_of "$work/addressed.$form.de" formal)" \
    "$(form_of "$work/addressed.$form.de" informal)" "$lines"
done
same=$(paste -d '\t' "$work"/neutral.{formal,informal,auto}.de | awk -F '\t' '$1 == $2 && $2 == $3' | wc -l)
printf 'neutral:  %4d the same        of %d\n' "$same" "$(wc -l <"$work/neutral.en")"

#!/bin/bash
# clock_phrases.sh STEM: writes STEM.en and STEM.de, every time of day on a five-minute clock in a few dozen frames.
# Text found on the web says "half past" a dozen times in a million lines, and German counts towards the next hour,
# which no model guesses. Trains do not run here, so that asking about them tests what was learned.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 1 "$@"

pairs() {
  awk -F' *[|] *' '
  BEGIN {
    split("one two three four five six seven eight nine ten eleven twelve", en, " ")
    split("eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", de, " ")
    split("five ten quarter twenty", en_part, " "); split("fünf zehn Viertel zwanzig", de_part, " ")
    for (h = 1; h <= 12; h++) {
      next_hour = h % 12 + 1
      add(en[h] " o\047clock", (h == 1 ? "ein" : de[h]) " Uhr")
      add("half past " en[h], "halb " de[next_hour])
      for (p = 1; p <= 4; p++) {
        quarter = p == 3 ? "a " : ""
        add(quarter en_part[p] " past " en[h], de_part[p] " nach " de[h])
        add(quarter en_part[p] " to " en[next_hour], de_part[p] " vor " de[next_hour])
      }
    }
  }
  function add(english, german) { times++; english_time[times] = english; german_time[times] = german }
  function put(frame, time) { sub(/@/, time, frame); return toupper(substr(frame, 1, 1)) substr(frame, 2) }
  NF == 2 { for (i = 1; i <= times; i++) print put($1, english_time[i]) "\t" put($2, german_time[i]) }' <<'END'
It is @. | Es ist @.
It is already @. | Es ist schon @.
It was almost @. | Es war fast @.
Is it @ yet? | Ist es schon @?
The meeting starts at @. | Die Besprechung beginnt um @.
The film begins at @. | Der Film fängt um @ an.
We have breakfast at @. | Wir frühstücken um @.
I get up at @ every day. | Ich stehe jeden Tag um @ auf.
She goes to bed at @. | Sie geht um @ ins Bett.
The bus arrives at @. | Der Bus kommt um @ an.
Our flight departs at @. | Unser Flug geht um @.
The shop closes at @. | Der Laden schließt um @.
The library opens at @. | Die Bibliothek öffnet um @.
He came home at @. | Er kam um @ nach Hause.
I will call you at @. | Ich rufe dich um @ an.
Can we meet at @? | Können wir uns um @ treffen?
Let us meet at @. | Treffen wir uns um @.
I have to be there at @. | Ich muss um @ dort sein.
The concert ended at @. | Das Konzert endete um @.
Dinner is at @. | Um @ gibt es Abendessen.
We waited until @. | Wir warteten bis @.
I work until @ on Fridays. | Freitags arbeite ich bis @.
She has been here since @. | Sie ist seit @ hier.
Please be back before @. | Bitte sei vor @ zurück.
The lesson starts at @ tomorrow. | Der Unterricht beginnt morgen um @.
The doctor can see you at @. | Der Arzt kann Sie um @ empfangen.
The ferry sails at @. | Die Fähre legt um @ ab.
What were you doing at @? | Was hast du um @ gemacht?
At @ the bell rang. | Um @ läutete die Glocke.
I would like to book a table for @. | Ich möchte einen Tisch für @ reservieren.
END
}

pairs | cut -f1 >"$1.en"
pairs | cut -f2 >"$1.de"

/* Lists of words for English and German, and how they are looked up. */
#include "document/language.h"

#include <string.h>

#include "base/utf8.h"
#include "text/unicode.h"

static const ganz_language english = {
    .code = "en",
    .never =
        " Mr Mrs Ms Mx Dr Prof Gen Col Maj Capt Cmdr Adm Lt Sgt Cpl Pvt Rev Hon Gov Sen Rep Pres Supt Insp Messrs"
        " Mlle Mme Msgr e.g i.e eg ie cf viz vs v approx ca incl excl esp attn Asst Brig tbsp tsp lb lbs oz dist Fr"
        " ",
    .numbered =
        " no nos nr p pp vol vols art arts fig figs sec sect ch chap par para eq eqs n° nº op cols tab ex app fol cl sp ",
    .doubtful =
        " co inc corp ltd llc plc bros jr sr st ave blvd rd sq hwy pl dept univ inst bldg apt mt ft al ed eds est"
        " esq Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun a.m p.m"
        " u.s u.k u.n e.u u.s.a ph.d m.d b.a m.a d.c b.c a.d l.a n.y hrs mins secs yrs Ariz Calif Colo Conn Fla Kan"
        " Mass Mich Minn Neb Nev Okla Ore Tenn Tex Wash Wis Wyo Ont dir govt intl natl tel ext ",
    .starters =
        " a about after all although an and another any anyone are as at because before both but by can could did do"
        " does during each either even every everybody everyone first for from had has have he her here his how"
        " however i if in instead is it its it's i'm i've just last later let let's many maybe meanwhile more"
        " moreover most my neither never nevertheless next no nobody none not nothing now of on once one only or"
        " other others our perhaps please several shall she should since so some somebody someone sometimes still"
        " such than thanks that that's the their then there there's therefore these they they're this those though"
        " three through thus to today tomorrow two under until unless up was we we're were what what's when whenever"
        " where whether which while who who's whose why will with without would yes yesterday yet you you're your ",
    .openers = " in on at while since when if they we he she there after as but although during for with according ",
    .headings =
        " chapter section part step figure table appendix article exercise example question lesson unit act scene rule"
        " phase stage ",
    .clock = " ",
};

static const ganz_language german = {
    .code = "de",
    .never =
        " Maj Ft Mt Capt Sen Gov Col dr prof dipl ing Mag phil med jur rer nat Hr hrn Fr frl fam Fa St Hl sel"
        " gebr bzw ca z.b d.h u.a i.d.r u.u o.ä v.a z.t m.e i.a i.v u.ä s.o s.u evtl ggf vgl sog inkl exkl zzgl"
        " abzgl gem lt bes insb insbes einschl ausschl entspr geb gest verh gesch verw allg urspr mind hrsg hg verl"
        " übers bearb jh jhd jhdt mio mrd tsd bd bde mr mrs ms ev kath röm griech lat dt engl frz ital span russ"
        " amerik österr südl nördl westl östl ehem stellv vors verf gez vorm nachm d.i d.j d.ä a.d a.m vs durchschn"
        " nachf inh ebd ders dgl desgl wg betr bspw gen spez ",
    .numbered =
        " nr nrn s ss art abs abschn abb tab kap ziff rn rdnr tel fax anm fn fig bl sp zi § anl bsp lit jg n° nº pos aufl"
        " min max ",
    .doubtful =
        " sr jr co str pl chr ff f Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez Mo Di Mi Do Sa So e.v ltd inc"
        " corp mwst tgl std sek u.s u.k u.n b.a m.a m.sc b.sc ph.d d.c ",
    .starters =
        " aber alle allem allen aller allerdings alles als also am an anders auch auf aus außerdem bei beide beim bis"
        " bitte da dabei dadurch dafür dagegen daher damals damit danach daneben dann daran darauf darin darum"
        " darunter das dass davon davor dazu dein deine dem den denn dennoch der derzeit des deshalb deswegen die"
        " dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines einige er erst"
        " es etwa euch euer falls fast für ganz gegen gestern genau gibt haben hat hatte heute hier hinter ich ihm"
        " ihn ihr ihre ihrem ihren im immer in indem ist ja jede jeder jedes jedoch jemand jene jetzt kann kein keine"
        " keiner könnte können man manche manchmal mehr mein meine mit morgen muss nach nachdem natürlich neben nein"
        " nicht nichts nie niemals niemand noch nun nur ob obwohl oder ohne schließlich schon sehr sein seine seit"
        " seitdem sich sie sind so sobald sogar soll sollte sondern sonst später statt trotz trotzdem über um und uns"
        " unser unsere unter viel viele vielleicht vom von vor vorher war waren warum was weder wegen weil weiter"
        " weitere welche wem wen wenig wenige wenn wer werden weshalb wie wieder wieso will wir wird wo wobei wohin"
        " womit würde zu zudem zuerst zum zur zwar zwei zwischen ",
    .openers = " ", /* after a noun every second word is in capitals */
    .headings =
        " kapitel abschnitt teil schritt abbildung tabelle anhang artikel aufgabe beispiel frage lektion akt szene regel"
        " phase stufe punkt ",
    .clock = " um gegen ab seite nummer nr kapitel zimmer gleis linie platz ",
    .ordinals = true,
};

static const ganz_language other = {.code = "",
                                    .never = " ",
                                    .numbered = " no nr p pp ",
                                    .doubtful = " ",
                                    .starters = " ",
                                    .openers = " ",
                                    .headings = " ",
                                    .clock = " "};

const ganz_language *ganz_language_of(const char *code)
{
    static const ganz_language *const known[] = {&english, &german};
    for (size_t i = 0; code && i < GANZ_COUNT(known); i++)
        if (strncmp(code, known[i]->code, 2) == 0 && strchr("-_", code[2])) return known[i]; /* the zero byte, too */
    return &other;
}

/* The word in lower case, or with its first letter as it is, between spaces; false: longer than any listed word. */
static bool put_word(const char *word, size_t bytes, bool capital, char out[GANZ_LISTED_BYTES + 8])
{
    size_t length = 0;
    out[length++] = ' ';
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const bool keep = capital && at == 0;
        at += ganz_next_character(word + at, &code);
        if (length > GANZ_LISTED_BYTES) return false;
        length += (size_t)ganz_utf8_encode(keep ? code : ganz_to_lower(code), out + length);
    }
    memcpy(out + length, " ", 2);
    return true;
}

bool ganz_listed(const char *list, const char *word, size_t bytes)
{
    char text[GANZ_LISTED_BYTES + 8];
    int32_t first;
    if (bytes == 0 || bytes > GANZ_LISTED_BYTES || memchr(word, ' ', bytes) || memchr(word, 0, bytes)) return false;
    if (!put_word(word, bytes, false, text)) return false;
    if (strstr(list, text)) return true;
    ganz_next_character(word, &first);
    return ganz_is_upper(first) && put_word(word, bytes, true, text) && strstr(list, text);
}

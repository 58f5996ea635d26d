/* Character references. The table has the names of Latin, Greek and Cyrillic letters, punctuation, currencies and the
 * symbols of HTML 4, sorted by bytes; a name that is not in it is told apart from plain text by its semicolon, so that
 * readers can carry it as it is. */
#include <string.h>

#include "document/html_entity.h"
#include "document/html_scan.h"

enum {
    TABLE_BYTES = 8,     /* longer names are not in the table */
    LEGACY_BYTES = 6,    /* the longest name that needs no semicolon */
    STANDARD_BYTES = 31, /* the longest name of the standard */
    REPLACEMENT = 0xFFFD
};

typedef struct entity {
    char name[TABLE_BYTES + 1];
    bool legacy; /* valid without a semicolon */
    uint16_t code;
} entity;

/* clang-format off */
static const entity entities[] = {
    {"AElig", 1, 0xC6},     {"AMP", 1, 0x26},       {"Aacute", 1, 0xC1},    {"Abreve", 0, 0x102},
    {"Acirc", 1, 0xC2},     {"Acy", 0, 0x410},      {"Agrave", 1, 0xC0},    {"Alpha", 0, 0x391},
    {"Amacr", 0, 0x100},    {"Aogon", 0, 0x104},    {"Aring", 1, 0xC5},     {"Atilde", 1, 0xC3},
    {"Auml", 1, 0xC4},      {"Bcy", 0, 0x411},      {"Beta", 0, 0x392},     {"Breve", 0, 0x2D8},
    {"CHcy", 0, 0x427},     {"COPY", 1, 0xA9},      {"Cacute", 0, 0x106},   {"Ccaron", 0, 0x10C},
    {"Ccedil", 1, 0xC7},    {"Ccirc", 0, 0x108},    {"Cdot", 0, 0x10A},     {"Cedilla", 0, 0xB8},
    {"Chi", 0, 0x3A7},      {"DJcy", 0, 0x402},     {"DScy", 0, 0x405},     {"DZcy", 0, 0x40F},
    {"Dagger", 0, 0x2021},  {"Dcaron", 0, 0x10E},   {"Dcy", 0, 0x414},      {"Delta", 0, 0x394},
    {"Dot", 0, 0xA8},       {"Dstrok", 0, 0x110},   {"ENG", 0, 0x14A},      {"ETH", 1, 0xD0},
    {"Eacute", 1, 0xC9},    {"Ecaron", 0, 0x11A},   {"Ecirc", 1, 0xCA},     {"Ecy", 0, 0x42D},
    {"Edot", 0, 0x116},     {"Egrave", 1, 0xC8},    {"Emacr", 0, 0x112},    {"Eogon", 0, 0x118},
    {"Epsilon", 0, 0x395},  {"Eta", 0, 0x397},      {"Euml", 1, 0xCB},      {"Fcy", 0, 0x424},
    {"GJcy", 0, 0x403},     {"GT", 1, 0x3E},        {"Gamma", 0, 0x393},    {"Gammad", 0, 0x3DC},
    {"Gbreve", 0, 0x11E},   {"Gcedil", 0, 0x122},   {"Gcirc", 0, 0x11C},    {"Gcy", 0, 0x413},
    {"Gdot", 0, 0x120},     {"HARDcy", 0, 0x42A},   {"Hacek", 0, 0x2C7},    {"Hat", 0, 0x5E},
    {"Hcirc", 0, 0x124},    {"Hstrok", 0, 0x126},   {"IEcy", 0, 0x415},     {"IJlig", 0, 0x132},
    {"IOcy", 0, 0x401},     {"Iacute", 1, 0xCD},    {"Icirc", 1, 0xCE},     {"Icy", 0, 0x418},
    {"Idot", 0, 0x130},     {"Igrave", 1, 0xCC},    {"Imacr", 0, 0x12A},    {"Iogon", 0, 0x12E},
    {"Iota", 0, 0x399},     {"Itilde", 0, 0x128},   {"Iukcy", 0, 0x406},    {"Iuml", 1, 0xCF},
    {"Jcirc", 0, 0x134},    {"Jcy", 0, 0x419},      {"Jsercy", 0, 0x408},   {"Jukcy", 0, 0x404},
    {"KHcy", 0, 0x425},     {"KJcy", 0, 0x40C},     {"Kappa", 0, 0x39A},    {"Kcedil", 0, 0x136},
    {"Kcy", 0, 0x41A},      {"LJcy", 0, 0x409},     {"LT", 1, 0x3C},        {"Lacute", 0, 0x139},
    {"Lambda", 0, 0x39B},   {"Lcaron", 0, 0x13D},   {"Lcedil", 0, 0x13B},   {"Lcy", 0, 0x41B},
    {"Lmidot", 0, 0x13F},   {"Lstrok", 0, 0x141},   {"Mcy", 0, 0x41C},      {"Mu", 0, 0x39C},
    {"NJcy", 0, 0x40A},     {"Nacute", 0, 0x143},   {"Ncaron", 0, 0x147},   {"Ncedil", 0, 0x145},
    {"Ncy", 0, 0x41D},      {"NewLine", 0, 0xA},    {"NoBreak", 0, 0x2060}, {"Ntilde", 1, 0xD1},
    {"Nu", 0, 0x39D},       {"OElig", 0, 0x152},    {"Oacute", 1, 0xD3},    {"Ocirc", 1, 0xD4},
    {"Ocy", 0, 0x41E},      {"Odblac", 0, 0x150},   {"Ograve", 1, 0xD2},    {"Omacr", 0, 0x14C},
    {"Omega", 0, 0x3A9},    {"Omicron", 0, 0x39F},  {"Oslash", 1, 0xD8},    {"Otilde", 1, 0xD5},
    {"Ouml", 1, 0xD6},      {"OverBar", 0, 0x203E}, {"Pcy", 0, 0x41F},      {"Phi", 0, 0x3A6},
    {"Pi", 0, 0x3A0},       {"Prime", 0, 0x2033},   {"Psi", 0, 0x3A8},      {"QUOT", 1, 0x22},
    {"REG", 1, 0xAE},       {"Racute", 0, 0x154},   {"Rcaron", 0, 0x158},   {"Rcedil", 0, 0x156},
    {"Rcy", 0, 0x420},      {"Rho", 0, 0x3A1},      {"SHCHcy", 0, 0x429},   {"SHcy", 0, 0x428},
    {"SOFTcy", 0, 0x42C},   {"Sacute", 0, 0x15A},   {"Scaron", 0, 0x160},   {"Scedil", 0, 0x15E},
    {"Scirc", 0, 0x15C},    {"Scy", 0, 0x421},      {"Sigma", 0, 0x3A3},    {"THORN", 1, 0xDE},
    {"TRADE", 0, 0x2122},   {"TSHcy", 0, 0x40B},    {"TScy", 0, 0x426},     {"Tab", 0, 0x9},
    {"Tau", 0, 0x3A4},      {"Tcaron", 0, 0x164},   {"Tcedil", 0, 0x162},   {"Tcy", 0, 0x422},
    {"Theta", 0, 0x398},    {"Tstrok", 0, 0x166},   {"Uacute", 1, 0xDA},    {"Ubrcy", 0, 0x40E},
    {"Ubreve", 0, 0x16C},   {"Ucirc", 1, 0xDB},     {"Ucy", 0, 0x423},      {"Udblac", 0, 0x170},
    {"Ugrave", 1, 0xD9},    {"Umacr", 0, 0x16A},    {"UnderBar", 0, 0x5F},  {"Uogon", 0, 0x172},
    {"Upsi", 0, 0x3D2},     {"Upsilon", 0, 0x3A5},  {"Uring", 0, 0x16E},    {"Utilde", 0, 0x168},
    {"Uuml", 1, 0xDC},      {"Vcy", 0, 0x412},      {"Verbar", 0, 0x2016},  {"Vert", 0, 0x2016},
    {"Wcirc", 0, 0x174},    {"Xi", 0, 0x39E},       {"YAcy", 0, 0x42F},     {"YIcy", 0, 0x407},
    {"YUcy", 0, 0x42E},     {"Yacute", 1, 0xDD},    {"Ycirc", 0, 0x176},    {"Ycy", 0, 0x42B},
    {"Yuml", 0, 0x178},     {"ZHcy", 0, 0x416},     {"Zacute", 0, 0x179},   {"Zcaron", 0, 0x17D},
    {"Zcy", 0, 0x417},      {"Zdot", 0, 0x17B},     {"Zeta", 0, 0x396},     {"aacute", 1, 0xE1},
    {"abreve", 0, 0x103},   {"acirc", 1, 0xE2},     {"acute", 1, 0xB4},     {"acy", 0, 0x430},
    {"aelig", 1, 0xE6},     {"af", 0, 0x2061},      {"agrave", 1, 0xE0},    {"alefsym", 0, 0x2135},
    {"alpha", 0, 0x3B1},    {"amacr", 0, 0x101},    {"amp", 1, 0x26},       {"and", 0, 0x2227},
    {"ang", 0, 0x2220},     {"angst", 0, 0xC5},     {"aogon", 0, 0x105},    {"apos", 0, 0x27},
    {"aring", 1, 0xE5},     {"ast", 0, 0x2A},       {"asymp", 0, 0x2248},   {"atilde", 1, 0xE3},
    {"auml", 1, 0xE4},      {"bcy", 0, 0x431},      {"bdquo", 0, 0x201E},   {"bepsi", 0, 0x3F6},
    {"beta", 0, 0x3B2},     {"bigstar", 0, 0x2605}, {"bprime", 0, 0x2035},  {"breve", 0, 0x2D8},
    {"brvbar", 1, 0xA6},    {"bsemi", 0, 0x204F},   {"bsol", 0, 0x5C},      {"bull", 0, 0x2022},
    {"bullet", 0, 0x2022},  {"cacute", 0, 0x107},   {"cap", 0, 0x2229},     {"caret", 0, 0x2041},
    {"caron", 0, 0x2C7},    {"ccaron", 0, 0x10D},   {"ccedil", 1, 0xE7},    {"ccirc", 0, 0x109},
    {"cdot", 0, 0x10B},     {"cedil", 1, 0xB8},     {"cent", 1, 0xA2},      {"chcy", 0, 0x447},
    {"check", 0, 0x2713},   {"chi", 0, 0x3C7},      {"circ", 0, 0x2C6},     {"circledR", 0, 0xAE},
    {"clubs", 0, 0x2663},   {"colon", 0, 0x3A},     {"comma", 0, 0x2C},     {"commat", 0, 0x40},
    {"cong", 0, 0x2245},    {"copy", 1, 0xA9},      {"copysr", 0, 0x2117},  {"crarr", 0, 0x21B5},
    {"cross", 0, 0x2717},   {"cup", 0, 0x222A},     {"curren", 1, 0xA4},    {"dArr", 0, 0x21D3},
    {"dagger", 0, 0x2020},  {"darr", 0, 0x2193},    {"dash", 0, 0x2010},    {"dblac", 0, 0x2DD},
    {"dcaron", 0, 0x10F},   {"dcy", 0, 0x434},      {"ddagger", 0, 0x2021}, {"deg", 1, 0xB0},
    {"delta", 0, 0x3B4},    {"diams", 0, 0x2666},   {"die", 0, 0xA8},       {"digamma", 0, 0x3DD},
    {"div", 0, 0xF7},       {"divide", 1, 0xF7},    {"djcy", 0, 0x452},     {"dollar", 0, 0x24},
    {"dot", 0, 0x2D9},      {"dscy", 0, 0x455},     {"dstrok", 0, 0x111},   {"dzcy", 0, 0x45F},
    {"eacute", 1, 0xE9},    {"ecaron", 0, 0x11B},   {"ecirc", 1, 0xEA},     {"ecy", 0, 0x44D},
    {"edot", 0, 0x117},     {"egrave", 1, 0xE8},    {"emacr", 0, 0x113},    {"empty", 0, 0x2205},
    {"emsp", 0, 0x2003},    {"emsp13", 0, 0x2004},  {"emsp14", 0, 0x2005},  {"eng", 0, 0x14B},
    {"ensp", 0, 0x2002},    {"eogon", 0, 0x119},    {"epsi", 0, 0x3B5},     {"epsilon", 0, 0x3B5},
    {"epsiv", 0, 0x3F5},    {"equals", 0, 0x3D},    {"equiv", 0, 0x2261},   {"eta", 0, 0x3B7},
    {"eth", 1, 0xF0},       {"euml", 1, 0xEB},      {"euro", 0, 0x20AC},    {"excl", 0, 0x21},
    {"exist", 0, 0x2203},   {"fcy", 0, 0x444},      {"female", 0, 0x2640},  {"fnof", 0, 0x192},
    {"forall", 0, 0x2200},  {"frac12", 1, 0xBD},    {"frac14", 1, 0xBC},    {"frac34", 1, 0xBE},
    {"frasl", 0, 0x2044},   {"gamma", 0, 0x3B3},    {"gammad", 0, 0x3DD},   {"gbreve", 0, 0x11F},
    {"gcirc", 0, 0x11D},    {"gcy", 0, 0x433},      {"gdot", 0, 0x121},     {"ge", 0, 0x2265},
    {"gjcy", 0, 0x453},     {"grave", 0, 0x60},     {"gt", 1, 0x3E},        {"hArr", 0, 0x21D4},
    {"hairsp", 0, 0x200A},  {"half", 0, 0xBD},      {"hardcy", 0, 0x44A},   {"harr", 0, 0x2194},
    {"hcirc", 0, 0x125},    {"hearts", 0, 0x2665},  {"hellip", 0, 0x2026},  {"horbar", 0, 0x2015},
    {"hstrok", 0, 0x127},   {"hybull", 0, 0x2043},  {"hyphen", 0, 0x2010},  {"iacute", 1, 0xED},
    {"ic", 0, 0x2063},      {"icirc", 1, 0xEE},     {"icy", 0, 0x438},      {"iecy", 0, 0x435},
    {"iexcl", 1, 0xA1},     {"igrave", 1, 0xEC},    {"ijlig", 0, 0x133},    {"imacr", 0, 0x12B},
    {"image", 0, 0x2111},   {"imath", 0, 0x131},    {"infin", 0, 0x221E},   {"inodot", 0, 0x131},
    {"int", 0, 0x222B},     {"iocy", 0, 0x451},     {"iogon", 0, 0x12F},    {"iota", 0, 0x3B9},
    {"iquest", 1, 0xBF},    {"isin", 0, 0x2208},    {"it", 0, 0x2062},      {"itilde", 0, 0x129},
    {"iukcy", 0, 0x456},    {"iuml", 1, 0xEF},      {"jcirc", 0, 0x135},    {"jcy", 0, 0x439},
    {"jsercy", 0, 0x458},   {"jukcy", 0, 0x454},    {"kappa", 0, 0x3BA},    {"kappav", 0, 0x3F0},
    {"kcedil", 0, 0x137},   {"kcy", 0, 0x43A},      {"kgreen", 0, 0x138},   {"khcy", 0, 0x445},
    {"kjcy", 0, 0x45C},     {"lArr", 0, 0x21D0},    {"lacute", 0, 0x13A},   {"lambda", 0, 0x3BB},
    {"lang", 0, 0x27E8},    {"laquo", 1, 0xAB},     {"larr", 0, 0x2190},    {"lbrace", 0, 0x7B},
    {"lbrack", 0, 0x5B},    {"lcaron", 0, 0x13E},   {"lcedil", 0, 0x13C},   {"lceil", 0, 0x2308},
    {"lcub", 0, 0x7B},      {"lcy", 0, 0x43B},      {"ldquo", 0, 0x201C},   {"ldquor", 0, 0x201E},
    {"le", 0, 0x2264},      {"lfloor", 0, 0x230A},  {"ljcy", 0, 0x459},     {"lmidot", 0, 0x140},
    {"lowast", 0, 0x2217},  {"lowbar", 0, 0x5F},    {"loz", 0, 0x25CA},     {"lpar", 0, 0x28},
    {"lrm", 0, 0x200E},     {"lsaquo", 0, 0x2039},  {"lsqb", 0, 0x5B},      {"lsquo", 0, 0x2018},
    {"lsquor", 0, 0x201A},  {"lstrok", 0, 0x142},   {"lt", 1, 0x3C},        {"macr", 1, 0xAF},
    {"male", 0, 0x2642},    {"mcy", 0, 0x43C},      {"mdash", 0, 0x2014},   {"micro", 1, 0xB5},
    {"midast", 0, 0x2A},    {"middot", 1, 0xB7},    {"minus", 0, 0x2212},   {"mldr", 0, 0x2026},
    {"mu", 0, 0x3BC},       {"nabla", 0, 0x2207},   {"nacute", 0, 0x144},   {"napos", 0, 0x149},
    {"nbsp", 1, 0xA0},      {"ncaron", 0, 0x148},   {"ncedil", 0, 0x146},   {"ncy", 0, 0x43D},
    {"ndash", 0, 0x2013},   {"ne", 0, 0x2260},      {"ni", 0, 0x220B},      {"njcy", 0, 0x45A},
    {"nldr", 0, 0x2025},    {"not", 1, 0xAC},       {"notin", 0, 0x2209},   {"nsub", 0, 0x2284},
    {"ntilde", 1, 0xF1},    {"nu", 0, 0x3BD},       {"num", 0, 0x23},       {"numero", 0, 0x2116},
    {"numsp", 0, 0x2007},   {"oacute", 1, 0xF3},    {"ocirc", 1, 0xF4},     {"ocy", 0, 0x43E},
    {"odblac", 0, 0x151},   {"oelig", 0, 0x153},    {"ogon", 0, 0x2DB},     {"ograve", 1, 0xF2},
    {"ohm", 0, 0x3A9},      {"oline", 0, 0x203E},   {"omacr", 0, 0x14D},    {"omega", 0, 0x3C9},
    {"omicron", 0, 0x3BF},  {"oplus", 0, 0x2295},   {"or", 0, 0x2228},      {"ordf", 1, 0xAA},
    {"ordm", 1, 0xBA},      {"oslash", 1, 0xF8},    {"otilde", 1, 0xF5},    {"otimes", 0, 0x2297},
    {"ouml", 1, 0xF6},      {"para", 1, 0xB6},      {"part", 0, 0x2202},    {"pcy", 0, 0x43F},
    {"percnt", 0, 0x25},    {"period", 0, 0x2E},    {"permil", 0, 0x2030},  {"perp", 0, 0x22A5},
    {"pertenk", 0, 0x2031}, {"phi", 0, 0x3C6},      {"phiv", 0, 0x3D5},     {"phone", 0, 0x260E},
    {"pi", 0, 0x3C0},       {"piv", 0, 0x3D6},      {"plus", 0, 0x2B},      {"plusmn", 1, 0xB1},
    {"pm", 0, 0xB1},        {"pound", 1, 0xA3},     {"prime", 0, 0x2032},   {"prod", 0, 0x220F},
    {"prop", 0, 0x221D},    {"psi", 0, 0x3C8},      {"puncsp", 0, 0x2008},  {"qprime", 0, 0x2057},
    {"quest", 0, 0x3F},     {"quot", 1, 0x22},      {"rArr", 0, 0x21D2},    {"racute", 0, 0x155},
    {"radic", 0, 0x221A},   {"rang", 0, 0x27E9},    {"raquo", 1, 0xBB},     {"rarr", 0, 0x2192},
    {"rbrace", 0, 0x7D},    {"rbrack", 0, 0x5D},    {"rcaron", 0, 0x159},   {"rcedil", 0, 0x157},
    {"rceil", 0, 0x2309},   {"rcub", 0, 0x7D},      {"rcy", 0, 0x440},      {"rdquo", 0, 0x201D},
    {"rdquor", 0, 0x201D},  {"real", 0, 0x211C},    {"reg", 1, 0xAE},       {"rfloor", 0, 0x230B},
    {"rho", 0, 0x3C1},      {"rhov", 0, 0x3F1},     {"ring", 0, 0x2DA},     {"rlm", 0, 0x200F},
    {"rpar", 0, 0x29},      {"rsaquo", 0, 0x203A},  {"rsqb", 0, 0x5D},      {"rsquo", 0, 0x2019},
    {"rsquor", 0, 0x2019},  {"rx", 0, 0x211E},      {"sacute", 0, 0x15B},   {"sbquo", 0, 0x201A},
    {"scaron", 0, 0x161},   {"scedil", 0, 0x15F},   {"scirc", 0, 0x15D},    {"scy", 0, 0x441},
    {"sdot", 0, 0x22C5},    {"sect", 1, 0xA7},      {"semi", 0, 0x3B},      {"shchcy", 0, 0x449},
    {"shcy", 0, 0x448},     {"shy", 1, 0xAD},       {"sigma", 0, 0x3C3},    {"sigmaf", 0, 0x3C2},
    {"sigmav", 0, 0x3C2},   {"sim", 0, 0x223C},     {"softcy", 0, 0x44C},   {"sol", 0, 0x2F},
    {"spades", 0, 0x2660},  {"star", 0, 0x2606},    {"starf", 0, 0x2605},   {"strns", 0, 0xAF},
    {"sub", 0, 0x2282},     {"sube", 0, 0x2286},    {"sum", 0, 0x2211},     {"sup", 0, 0x2283},
    {"sup1", 1, 0xB9},      {"sup2", 1, 0xB2},      {"sup3", 1, 0xB3},      {"supe", 0, 0x2287},
    {"szlig", 1, 0xDF},     {"tau", 0, 0x3C4},      {"tcaron", 0, 0x165},   {"tcedil", 0, 0x163},
    {"tcy", 0, 0x442},      {"there4", 0, 0x2234},  {"theta", 0, 0x3B8},    {"thetasym", 0, 0x3D1},
    {"thetav", 0, 0x3D1},   {"thinsp", 0, 0x2009},  {"thorn", 1, 0xFE},     {"tilde", 0, 0x2DC},
    {"times", 1, 0xD7},     {"tprime", 0, 0x2034},  {"trade", 0, 0x2122},   {"tscy", 0, 0x446},
    {"tshcy", 0, 0x45B},    {"tstrok", 0, 0x167},   {"uArr", 0, 0x21D1},    {"uacute", 1, 0xFA},
    {"uarr", 0, 0x2191},    {"ubrcy", 0, 0x45E},    {"ubreve", 0, 0x16D},   {"ucirc", 1, 0xFB},
    {"ucy", 0, 0x443},      {"udblac", 0, 0x171},   {"ugrave", 1, 0xF9},    {"umacr", 0, 0x16B},
    {"uml", 1, 0xA8},       {"uogon", 0, 0x173},    {"upsi", 0, 0x3C5},     {"upsih", 0, 0x3D2},
    {"upsilon", 0, 0x3C5},  {"uring", 0, 0x16F},    {"utilde", 0, 0x169},   {"uuml", 1, 0xFC},
    {"varkappa", 0, 0x3F0}, {"varphi", 0, 0x3D5},   {"varpi", 0, 0x3D6},    {"varrho", 0, 0x3F1},
    {"varsigma", 0, 0x3C2}, {"vartheta", 0, 0x3D1}, {"vcy", 0, 0x432},      {"verbar", 0, 0x7C},
    {"vert", 0, 0x7C},      {"wcirc", 0, 0x175},    {"weierp", 0, 0x2118},  {"xi", 0, 0x3BE},
    {"yacute", 1, 0xFD},    {"yacy", 0, 0x44F},     {"ycirc", 0, 0x177},    {"ycy", 0, 0x44B},
    {"yen", 1, 0xA5},       {"yicy", 0, 0x457},     {"yucy", 0, 0x44E},     {"yuml", 1, 0xFF},
    {"zacute", 0, 0x17A},   {"zcaron", 0, 0x17E},   {"zcy", 0, 0x437},      {"zdot", 0, 0x17C},
    {"zeta", 0, 0x3B6},     {"zhcy", 0, 0x436},     {"zwj", 0, 0x200D},     {"zwnj", 0, 0x200C},
};
/* clang-format on */

static const entity *find(const char *name, size_t bytes)
{
    if (bytes > TABLE_BYTES) return NULL;
    size_t low = 0, high = GANZ_COUNT(entities);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = strncmp(entities[middle].name, name, bytes);
        if (order == 0 && entities[middle].name[bytes] == '\0') return &entities[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

int32_t ganz_windows_1252(unsigned char byte)
{
    static const uint16_t codes[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                       0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                       0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                       0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    return byte >= 0x80 && byte < 0xA0 ? codes[byte - 0x80] : byte;
}

static int32_t repaired(int32_t code)
{
    if (code >= 0x80 && code < 0xA0) return ganz_windows_1252((unsigned char)code);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return code == 0 || surrogate || code > 0x10FFFF ? REPLACEMENT : code;
}

static int digit_value(char c, int base)
{
    const int letter = ganz_ascii_lower(c) - 'a';
    if (ganz_ascii_digit(c)) return c - '0';
    return base == 16 && letter >= 0 && letter < 6 ? letter + 10 : -1;
}

static size_t decode_number(const char *text, size_t bytes, ganz_entity_place place, int32_t *code)
{
    const int base = bytes > 2 && (text[2] | 0x20) == 'x' ? 16 : 10;
    const size_t first = base == 16 ? 3 : 2;
    size_t at = first;
    int32_t value = 0;
    for (int digit; at < bytes && (digit = digit_value(text[at], base)) >= 0; at++)
        if (value <= 0x10FFFF) value = value * base + digit;
    const bool closed = at < bytes && text[at] == ';';
    if (at == first || (place == GANZ_ENTITY_STRICT && (!closed || at - first > (base == 16 ? 6 : 7)))) return 0;
    *code = repaired(value);
    return at + closed;
}

/* "&auml" of "&aumlx": the longest name that needs no semicolon. */
static size_t decode_legacy(const char *text, size_t name_bytes, size_t bytes, ganz_entity_place place, int32_t *code)
{
    for (size_t n = name_bytes < LEGACY_BYTES ? name_bytes : LEGACY_BYTES; n >= 2; n--) {
        const entity *const found = find(text + 1, n);
        if (!found || !found->legacy) continue;
        const char next = n + 1 < bytes ? text[n + 1] : '\0';
        if (place == GANZ_ENTITY_ATTRIBUTE && (next == '=' || ganz_ascii_alnum(next))) return 0;
        *code = found->code;
        return n + 1;
    }
    return 0;
}

size_t ganz_entity_decode(const char *text, size_t bytes, ganz_entity_place place, int32_t *code)
{
    if (bytes > 2 && text[1] == '#') return decode_number(text, bytes, place, code);
    size_t at = 1;
    while (at < bytes && at <= STANDARD_BYTES && ganz_ascii_alnum(text[at])) at++;
    const bool closed = at > 1 && at < bytes && text[at] == ';';
    const entity *const found = closed ? find(text + 1, at - 1) : NULL;
    if (found) return *code = found->code, at + 1;
    const size_t legacy = place == GANZ_ENTITY_STRICT ? 0 : decode_legacy(text, at - 1, bytes, place, code);
    if (legacy > 0 || !closed || ganz_ascii_digit(text[1])) return legacy;
    return *code = -1, at + 1;
}

# cmake --install into any folder: program, libraries, headers, manual page; a program builds against them through
# pkg-config. BUILD is the build folder, CMAKE and CC the tools, SANITIZERS what the libraries were built with.
"$CMAKE" --install "$BUILD" --prefix "$PWD/prefix with space/here" >install.out 2>&1 || fail "cmake --install: $(cat install.out)"
mv "prefix with space/here" moved # it may be moved afterwards
PREFIX=$PWD/moved

equal "installed version" "$($GANZ --version)" "$("$PREFIX/bin/ganz" --version)"
[ -s "$PREFIX/share/man/man1/ganz.1" ] || fail "no manual page"
for header in "$HERE"/../../include/ganz/*.h; do
  cmp "$header" "$PREFIX/include/ganz/${header##*/}" || fail "no header ${header##*/}"
done
[ -s "$PREFIX/share/ganz/recipes/base.yaml" ] || fail "no recipes"
for model in "$HERE"/../../models/*.safetensors; do
  [ ! -e "$model" ] || cmp "$model" "$PREFIX/share/ganz/${model##*/}" || fail "no model ${model##*/}"
done

PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name ganz.pc)")
export PKG_CONFIG_PATH
equal "pkg-config's version" "$($GANZ --version)" "ganz $(pkg-config --modversion ganz)"
LIBDIR=$(pkg-config --variable=libdir ganz)

cat >program.c <<'END'
#include <ganz/ganz.h>
#include <ganz/score.h>
#include <ganz/vocab.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char file[] = "'<pad>_'\n'<EOS>_'\n'\\'\n'_'\n'u'\n';'\n'0'\n'1'\n'2'\n'3'\n'4'\n'5'\n'6'\n'7'\n'8'\n'9'\n"
                        "'<'\n'>'\n'p'\n'a'\n'd'\n'E'\n'O'\n'S'\n'pad_'\n";
    ganz_vocab *vocab;
    ganz_error err;
    ganz_ids ids = {0};
    ganz_text text = {0};
    if (ganz_vocab_parse(&vocab, file, strlen(file), "it", &err) != GANZ_OK) return puts(err.message), 1;
    if (ganz_vocab_encode(vocab, "a pad", 5, &ids, &err) != GANZ_OK) return puts(err.message), 1;
    if (ganz_vocab_decode(vocab, ids.ids, ids.count, &text, &err) != GANZ_OK) return puts(err.message), 1;
    printf("ganz %s: %d ids, %.*s\n", ganz_version(), (int)ids.count, (int)text.bytes, text.text);
    ganz_ids_free(&ids);
    ganz_text_free(&text);
    ganz_vocab_close(&vocab);
    return 0;
}
END
expected="$($GANZ --version): 3 ids, a pad"

flags="-std=c11 -Wall -Wextra -Werror $SANITIZERS $(pkg-config --cflags ganz)"
static=$(pkg-config --static --libs ganz)
$CC $flags program.c ${static/-lganz/-l:libganz.a} -o static || fail "a static program does not build"
equal "the static program" "$expected" "$(./static)"
if [ -e "$LIBDIR/libganz.so" ]; then # a build with libraries linked in has none
  $CC $flags program.c $(pkg-config --libs ganz) -o shared || fail "a shared program does not build"
  equal "the shared program" "$expected" "$(LD_LIBRARY_PATH="$LIBDIR" ./shared)"
  LD_LIBRARY_PATH="$LIBDIR" ldd ./shared | grep -qF "$LIBDIR/libganz.so" || fail "the shared program uses another library"
fi
exit 0

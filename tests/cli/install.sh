# cmake --install into any folder: program, libraries, headers, manual page; a program builds against them through
# pkg-config or CMake's find_package. BUILD is the build folder, CMAKE, GENERATOR and CC the tools, SANITIZERS what the
# libraries were built with; MAKE_MODEL writes a small random model.
"$CMAKE" --install "$BUILD" --prefix "$PWD/prefix with space/here" >install.out 2>&1 ||
  fail "cmake --install: $(cat install.out)"
mv "prefix with space/here" moved # it may be moved afterwards
PREFIX=$PWD/moved

equal "installed version" "$($GANZ --version)" "$("$PREFIX/bin/ganz" --version)"
[ -s "$PREFIX/share/man/man1/ganz.1" ] || fail "no manual page"
for header in "$HERE"/../../include/ganz/*.h; do
  cmp "$header" "$PREFIX/include/ganz/${header##*/}" || fail "no header ${header##*/}"
done
[ -s "$PREFIX/share/ganz/recipes/base.yaml" ] || fail "no recipes"
cmp "$HERE/../../LICENSE" "$PREFIX/share/doc/ganz/LICENSE" || fail "no licence"
[ -s "$PREFIX/share/doc/ganz/models.md" ] || fail "no word about the model"
for model in "$HERE"/../../models/*.safetensors; do
  [ ! -e "$model" ] || cmp "$model" "$PREFIX/share/ganz/${model##*/}" || fail "no model ${model##*/}"
done

# A build that is not whole leaves nothing behind.
"$CMAKE" -G "$GENERATOR" -S "$HERE/../.." -B unbuilt -DCMAKE_C_COMPILER="$CC" -DGANZ_TESTS=OFF -DGANZ_CUDA=OFF \
  >unbuilt.out 2>&1 || fail "no second build folder: $(tail -20 unbuilt.out)"
"$CMAKE" --install unbuilt --prefix "$PWD/half" >unbuilt.out 2>&1 && fail "what is not built is installed"
grep -q 'ganz is not built' unbuilt.out || fail "installing what is not built says: $(cat unbuilt.out)"
[ ! -e half ] || fail "half of an installation: $(find half)"

PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name ganz.pc)")
export PKG_CONFIG_PATH
equal "pkg-config's version" "$($GANZ --version | head -1)" "ganz $(pkg-config --modversion ganz)"
LIBDIR=$(pkg-config --variable=libdir ganz)

# The example program, linked either way, says what the command says.
$MAKE_MODEL m.safetensors 5 || fail "no model"
head -n 5 "$HERE/../data/tatoeba.en" >text
$GANZ translate --model m.safetensors text >expected || fail "no translation"

flags="-std=c11 -Wall -Wextra -Werror $SANITIZERS $(pkg-config --cflags ganz)"
program=$HERE/../../examples/translate.c
static=$(pkg-config --static --libs ganz)
$CC $flags "$program" ${static/-lganz/-l:libganz.a} -o static || fail "a static program does not build"
./static m.safetensors <text | cmp - expected || fail "the static program says something else"
if [ -e "$LIBDIR/libganz.so" ]; then # a build with libraries linked in has none
  $CC $flags "$program" $(pkg-config --libs ganz) -o shared || fail "a shared program does not build"
  LD_LIBRARY_PATH="$LIBDIR" ./shared m.safetensors <text | cmp - expected ||
    fail "the shared program says something else"
  LD_LIBRARY_PATH="$LIBDIR" ldd ./shared | grep -qF "$LIBDIR/libganz.so" ||
    fail "the shared program uses another library"

  mkdir project
  cp "$program" project
  version=$($GANZ version | sed -n '1s/^ganz \([0-9]*\.[0-9]*\).*/\1/p')
  cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES C)
find_package(ganz $version REQUIRED)
add_executable(example translate.c)
target_link_libraries(example PRIVATE ganz::ganz)
END
  { "$CMAKE" -G "$GENERATOR" -S project -B built -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS="$SANITIZERS" &&
    "$CMAKE" --build built; } >project.out 2>&1 || fail "find_package(ganz): $(tail -20 project.out)"
  built/example m.safetensors <text | cmp - expected || fail "the program of CMake says something else"
fi
exit 0

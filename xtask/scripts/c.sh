# The commands of the library for C. `Scripts` in `xtask/src/step.rs` describes the syntax.

## install
# Builds the libraries for this machine, and installs them, the header, and the files for build systems. The last number
# of `soname` is the version of the binary interface: a program that was linked with one version of the interface runs
# with every library of the same interface version.
cargo rustc --locked --target-dir target/c {build} --profile c --crate-type staticlib,cdylib -- \
    -C link-arg=-Wl,-soname,libunstuck.so.0
mkdir -p "$PREFIX/include" "$PREFIX/lib/pkgconfig" "$PREFIX/lib/cmake/unstuck"
cp adapters/c/include/unstuck.h "$PREFIX/include"
cp target/c/c/libunstuck_c.a "$PREFIX/lib/libunstuck.a"
cp target/c/c/libunstuck_c.so "$PREFIX/lib/libunstuck.so.$VERSION"
ln -sf libunstuck.so.$VERSION "$PREFIX/lib/libunstuck.so.0"
ln -sf libunstuck.so.$VERSION "$PREFIX/lib/libunstuck.so"
cd adapters/c/packages && sed s/@VERSION@/$VERSION/ pkg-config/unstuck.pc.in > "$PREFIX/lib/pkgconfig/unstuck.pc"
cd adapters/c/packages/cmake && for name in unstuck-config unstuck-config-version; do \
    sed s/@VERSION@/$VERSION/ $name.cmake.in > "$PREFIX/lib/cmake/unstuck/$name.cmake" || exit 1; done
echo "installed at $PREFIX"

## add
# Adds the library for a target, the header and the static files to the packages.
mkdir -p "$TO/esp-idf/unstuck/include" "$TO/arduino/Unstuck/src" "$TO/include"
cp -R adapters/c/packages/esp-idf/. "$TO/esp-idf/unstuck"
cp -R adapters/c/packages/arduino/. "$TO/arduino/Unstuck"
for folder in esp-idf/unstuck/include arduino/Unstuck/src include; do \
    cp adapters/c/include/unstuck.h "$TO/$folder" || exit 1; done
for folder in $PLACES; do \
    mkdir -p "$TO/$folder" && cp $LIBRARY "$TO/$folder/libunstuck.a" || exit 1; done

## cmake
# Builds the `CMake` example in a copy outside the source tree.
mkdir -p target/c/cmake-example
cd adapters/c/examples && cp robot.c arm.cpp CMakeLists.txt ../../../target/c/cmake-example
cmake -DCMAKE_PREFIX_PATH="$ROOT/target/c/prefix" -S target/c/cmake-example -B target/c/by-cmake
cmake --build target/c/by-cmake
cd target/c/by-cmake && ./robot > robot.out && diff ../../../adapters/c/examples/robot.out robot.out
cd target/c/by-cmake && ./arm > arm.out && diff ../../../adapters/c/examples/arm.out arm.out

## configure
# Configures the component for a chip with stubs for ESP-IDF's functions, which check that every file is there.
cmake -DIDF_TARGET={chip} -DCOMPONENT="$ROOT/target/c/packages/esp-idf/unstuck" -P adapters/c/tests/c/esp-idf.cmake

## compile
# Compiles the example of the component, and the sketch with a stub for Arduino's own header. Both packages name the
# version, and Arduino links the library because of the other lines.
cd target/c/packages/esp-idf/unstuck && grep -xF 'version: "{version}"' idf_component.yml
gcc -std=c11 -fsyntax-only {strict} -I target/c/packages/esp-idf/unstuck/include \
    target/c/packages/esp-idf/unstuck/examples/robot/main/main.c
g++ -std=c++17 -fsyntax-only {strict} -I target/c/packages/arduino/Unstuck/src \
    -include adapters/c/tests/c/arduino.h -x c++ target/c/packages/arduino/Unstuck/examples/Robot/Robot.ino
cd target/c/packages/arduino/Unstuck && for line in name=Unstuck version={version} precompiled=true \
    ldflags=-lunstuck; do grep -xF $line library.properties || exit 1; done

## example
# Compiles an example with the library, and compares its output with the file beside its source.
{compiler} {strict} adapters/c/examples/{source} {library} -o target/c/programs/example
timeout 60 target/c/programs/example > target/c/programs/example.out
diff adapters/c/examples/{name}.out target/c/programs/example.out

## test
# Runs a test program under sanitizers, and under valgrind.
{compile} -fsanitize=address,undefined -fno-sanitize-recover=all {sources} -o target/c/programs/sanitized
target/c/programs/sanitized
{compile} {sources} -o target/c/programs/test
valgrind --quiet --error-exitcode=1 --leak-check=full target/c/programs/test

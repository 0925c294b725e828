# The commands of the package for JavaScript. `Scripts` in `xtask/src/step.rs` describes the syntax.

## copy
# Replaces the copied sources, so that deleted files do not stay.
mkdir -p target/js/package && cd target/js/package && rm -rf src dist platform
mkdir -p target/js/package/dist/cjs/glue target/js/package/dist/esm/glue
cd adapters/js && cp -R src platform package.json README.md tsconfig.json tsconfig.cjs.json \
    ../../LICENSE-APACHE ../../LICENSE-MIT ../../target/js/package
mkdir -p target/js/package/src/glue

## place
# Puts the glue and the file of an engine into the package: as it is, and compressed in modules.
cp target/js/bound/unstuck_wasm_bg.wasm target/js/package/dist/FILE
cp target/js/bound/unstuck_wasm.js target/js/package/src/glue/MODULE.js
printf 'declare const file: string;\n\nexport default file;\n' > target/js/package/src/glue/MODULE-packed.d.ts
gzip --best --stdout --no-name target/js/package/dist/FILE > target/js/bound/FILE.gz
base64 --wrap=0 target/js/bound/FILE.gz > target/js/bound/FILE.txt
printf 'module.exports = "%s";\n' "$(cat target/js/bound/FILE.txt)" > target/js/package/dist/cjs/glue/MODULE-packed.js
printf 'export default "%s";\n' "$(cat target/js/bound/FILE.txt)" > target/js/package/dist/esm/glue/MODULE-packed.js

## modules
# Compiles the modules twice, and packs the package. Marks those of one kind as `CommonJS`, and replaces `#engine` and
# `#full` by paths in them, because only the other modules choose the engine by the runtime.
cd target/js/package && NPM
cd target/js/package && node_modules/.bin/tsc --project tsconfig.json
cd target/js/package && node_modules/.bin/tsc --project tsconfig.cjs.json
echo '{ "type": "commonjs" }' > target/js/package/dist/cjs/package.json
cd target/js/package/dist/cjs && sed -E -i 's@"#(engine|full)"@"./glue/\1-packed.js"@g' engine.js
cd target/js/package && npm pack --silent --pack-destination "$ROOT/target/js"

## package
# Checks how the package is packed: that each entry exists, and that its types are found. The files of the engine are
# no modules.
cd target/js/package && node_modules/.bin/publint --strict ARCHIVE
cd target/js/package && node_modules/.bin/attw ARCHIVE --profile node16 \
    --exclude-entrypoints unstuck.wasm unstuck-full.wasm

#!/bin/sh
# Installs a package from npm into a folder of its own. The file `installed` there says that everything is there.
#
#     sh install.sh FOLDER PACKAGE [SCRIPT]
#
# SCRIPT is the installation script of the package, below `node_modules`: not every npm runs it.
set -e
rm -rf "$1"
mkdir -p "$1"
cd "$1"
echo '{"private": true}' > package.json
npm install --no-audit --no-fund --loglevel=error "$2"
if [ -n "$3" ]; then
    (cd "$(dirname "node_modules/$3")" && node "$(basename "$3")")
fi
echo "$2" > installed

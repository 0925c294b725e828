#!/bin/sh
# Makes the folder of a run anew: a home, a project, and the program, which a scenario may remove.
#
#     sh place.sh FOLDER PROGRAM
set -e
rm -rf "$1"
mkdir -p "$1/home/.local/state/unstuck" "$1/tmp" "$1/bin"
cp -r "$(dirname "$0")/project" "$1/project"
for part in 0 1 2 3 4 5 6 7 8 9 10 11; do
    echo same > "$1/project/part$part.txt"
done
# Some agents look for the root of a project.
git init --quiet "$1/project"
ln "$2" "$1/bin/unstuck" 2> /dev/null || cp "$2" "$1/bin/unstuck"

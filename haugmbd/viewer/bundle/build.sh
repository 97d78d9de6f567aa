#!/usr/bin/env bash
# Make three.min.js, the part of three.js that the page uses, and put its licence beside it.  Needs Node.js and npm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes >/dev/null
npm install --no-audit --no-fund --save-exact three@0.187.0 esbuild@0.28.2
cp "$here/entry.js" .
node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --global-name=THREE --legal-comments=none --charset=ascii \
    --target=chrome100,firefox113,safari16.4 --outfile="$here/three.min.js"
cp node_modules/three/LICENSE "$here/LICENSE.three"

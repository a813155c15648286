#!/bin/sh
# Starts a server in a container. The first server makes the token of the database; each other one takes it from there.
set -e
if [ -d /first ] && [ ! -f /data/.api-token ]; then
  until [ -f /first/.api-token ]; do sleep 1; done
  cp /first/.api-token /data/.api-token
  chmod 600 /data/.api-token
fi
exec node dist/cli/main.js serve --host 0.0.0.0 --allow-remote --workspace /data

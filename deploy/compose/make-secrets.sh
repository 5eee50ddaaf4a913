#!/bin/sh
# Makes the secrets of postgres.yaml, each once: what is there stays. Keep a copy of the master key elsewhere.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
random() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }
[ -e secrets/master-key ] || random 32 > secrets/master-key
[ -e secrets/database-password ] || random 24 | tr '+/' '-_' > secrets/database-password
[ -e secrets/database-url ] || printf 'postgres://tollgate:%s@database:5432/tollgate' "$(cat secrets/database-password)" > secrets/database-url
# The gateway's user in the container reads them; the directory keeps others out.
chmod 444 secrets/*

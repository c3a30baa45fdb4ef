#!/usr/bin/env bash
# Build the image of the Dockerfile in a clean root, run it, and print its size. Needs root and Debian's buildah and
# mmdebstrap, but no container engine and no registry: the base image is made from Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d "${TMPDIR:-/tmp}/rankery-image-XXXXXX")
trap 'rm -rf "$folder"' EXIT
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah() { command buildah --root "$folder/storage" --runroot "$folder/run" "$@"; }

# Copy the machine's certificates and pip configuration into the base image, for a machine behind a package mirror.
hooks=(--customize-hook='copy-in /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs')
[ ! -e /etc/pip.conf ] || hooks+=(--customize-hook='copy-in /etc/pip.conf /etc')
mmdebstrap --quiet --variant=minbase --include=ca-certificates,python3,python3-venv "${hooks[@]}" \
    --customize-hook='ln -s /usr/bin/python3 "$1/usr/local/bin/python"' \
    bookworm "$folder/base.tar" ${DEBIAN_SOURCES:-/etc/apt/sources.list.d/debian.sources}
base=$(buildah from scratch)
buildah add --quiet "$base" "$folder/base.tar" /
buildah commit --quiet --rm "$base" "docker.io/library/$(sed -n 's/^FROM \(python:[^ ]*\).*/\1/p' Dockerfile)" >/dev/null
rm "$folder/base.tar"

time buildah build --format docker --pull-never --network host --build-arg "TARGETARCH=$(dpkg --print-architecture)" --tag rankery .
buildah images

container=$(buildah from --pull-never rankery)
in_image() { buildah run --network host --user 10001:10001 "$container" -- "$@"; }
in_image id
in_image sh -c 'du -shc /opt/rankery/lib/*/site-packages/* /opt/rankery/kernels | sort -h | tail -n 12'
time in_image rankery demo

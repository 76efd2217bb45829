#!/bin/sh
# Installs what is missing on this machine: the npm packages (with Node 24 among them) and a redis-server; with the argument
# `tests` a Chromium too, where apt-get can bring one.
set -eu
cd "$(dirname "$0")/.."
exec 1>&2 # what the program after it prints stays alone on stdout

say() { echo "setup: $*"; }
fail() {
  say "$*"
  exit 1
}

# A copy of the lock file tells which packages are installed.
installed=node_modules/.installed-lock.json

install_packages() {
  say "installing the npm packages (about 20 s) ..."
  # NODE_ENV=production or omit=dev in the environment would leave the tools out.
  if ! output=$(npm ci --include=dev --include=optional --loglevel=error --no-audit --no-fund 2>&1); then
    case $output in
    *"in sync"* | *EUSAGE*)
      fail "package-lock.json does not fit package.json: run 'npm install' and commit the lock file" ;;
    esac
    echo "$output" | tail -n 20
    fail "npm ci failed, see above"
  fi
}

check_node() {
  version=$(node_modules/.bin/node --version 2>/dev/null || echo none)
  case $version in
  v24.*) ;;
  *) fail "Node 24 should be in node_modules/.bin, but there is: $version. npm must be allowed to run the
install script of the package 'node' (allowScripts in package.json; 'npm config get ignore-scripts' must
say false): put that right, remove node_modules, and try again" ;;
  esac
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_apt() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" </dev/null; }
apt_install() { apt_get install --no-install-recommends --yes "$1"; }

# Installs one package; an old package list is renewed first.
install_by_apt() {
  say "installing $1 with apt-get ..."
  log=$(mktemp)
  apt_install "$1" >"$log" 2>&1 || {
    apt_get update >>"$log" 2>&1 || true
    apt_install "$1" >>"$log" 2>&1 || {
      tail -n 20 "$log"
      rm -f "$log"
      return 1
    }
  }
  rm -f "$log"
}

# The package starts and enables a service. We want the program only, so a policy forbids the start.
install_redis_by_apt() {
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    trap 'as_root rm -f $policy' EXIT
    trap 'exit 1' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
    as_root chmod +x $policy
  fi
  install_by_apt redis-server ||
    fail "apt-get could not install redis-server: install redis-server or valkey-server yourself"
  if command -v systemctl >/dev/null; then
    as_root systemctl disable redis-server >/dev/null 2>&1 || true
    as_root systemctl stop redis-server >/dev/null 2>&1 || true
  elif command -v update-rc.d >/dev/null; then
    as_root update-rc.d redis-server disable >/dev/null 2>&1 || true
  fi
}

has_redis() { command -v redis-server >/dev/null || command -v valkey-server >/dev/null; }

install_redis() {
  if can_apt; then
    install_redis_by_apt
  elif command -v brew >/dev/null; then
    say "installing redis with brew ..."
    HOMEBREW_NO_AUTO_UPDATE=1 brew install --quiet redis
  fi
  has_redis || fail "redis-server or valkey-server is needed and not on the PATH. Install one (Debian and Ubuntu:
apt-get install redis-server; Fedora: dnf install valkey; macOS: brew install redis) and try again"
}

cmp -s package-lock.json $installed || install_packages
check_node
cp package-lock.json $installed
has_redis || install_redis

has_chromium() {
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

if [ "${1:-}" = tests ] && ! has_chromium; then
  { can_apt && install_by_apt chromium; } || say "no Chromium: the tests of pages are skipped"
fi

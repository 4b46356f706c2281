#!/bin/sh
# Installs the wall from an unpacked release, or upgrades an installed wall. Run it as root.
# A running wall is left alone: it keeps running the version that it was started from until it is restarted.
set -eu
cd "$(dirname "$0")"
root=${DESTDIR:-}

if [ -z "$root" ] && ! getent passwd wall >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/pixel-wall --no-create-home --shell /usr/sbin/nologin wall
fi

# These folders are made as systemd makes them, so that the settings can be checked before the first start.
for folder in pixel-wall pixel-wall-backups; do
	install -d -m 700 "$root/var/lib/$folder"
	if [ -z "$root" ]; then chown wall:wall "/var/lib/$folder"; fi
done

# The program is renamed into place, because a running program cannot be overwritten. The previous version stays, for a
# rollback.
program=$root/usr/local/bin/pixel-wall
mkdir -p "$root/usr/local/bin" "$root/etc/systemd/system"
install -m 755 pixel-wall "$program.new"
if [ -e "$program" ] && ! cmp -s "$program" "$program.new"; then ln -f "$program" "$program.before"; fi
mv "$program.new" "$program"
install -m 644 systemd/* "$root/etc/systemd/system/"

doc=$root/usr/local/share/doc/pixel-wall
install -d "$doc/docs" "$doc/prometheus" "$doc/grafana"
install -m 644 OPERATING.md CHANGES.md nginx.conf nginx-cache.conf varnish.vcl Caddyfile haproxy.cfg sbom.json "$doc/"
install -m 644 docs/* "$doc/docs/"
install -m 644 prometheus/* "$doc/prometheus/"
install -m 644 grafana/* "$doc/grafana/"

# The file may contain secrets, so only root and the wall's user may read it.
if [ ! -e "$root/etc/pixel-wall.env" ]; then
	install -m 640 pixel-wall.env "$root/etc/pixel-wall.env"
	if [ -z "$root" ]; then chgrp wall /etc/pixel-wall.env; fi
	echo "Now fill in $root/etc/pixel-wall.env, then: systemctl enable --now pixel-wall pixel-wall-backup.timer"
fi
if [ -z "$root" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
echo "pixel-wall $("$program" --version) is installed."

# Asks whether a pinned package is known to have a hole. Advice only: whatever is found, or cannot be asked, it ends well.

python=$1
unasked=
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# Runs a command, shows what it says, and remembers its subject where its words do not show that all was asked about:
# pip-audit has found no hole in what it could not look up either.
ask() {
    subject=$1 answered=$2
    shift 2
    echo "$subject:"
    "$@" >"$said" 2>&1
    cat "$said"
    grep -qiE "$answered" "$said" && ! grep -q "could not be audited" "$said" || unasked="$unasked $subject"
}

if ! [ -x build/audit/bin/pip-audit ]; then
    "$python" -m venv build/audit && build/audit/bin/python -m pip install -qq --disable-pip-version-check pip-audit ||
        echo "pip-audit is not to be had just now"
fi
for pins in play develop node build; do
    ask "requirements/$pins.txt" "no known vulnerabilities|found [0-9]+ known vulnerabilit" \
        build/audit/bin/pip-audit --progress-spinner off --disable-pip --require-hashes -r "requirements/$pins.txt"
done
ask clients/web/package-lock.json "found 0 vulnerabilities|[0-9]+ [a-z ]*vulnerabilit" npm --prefix clients/web audit

echo
if [ -n "$unasked" ]; then
    echo "NOBODY COULD BE ASKED about$unasked: that says nothing about whether there are holes."
else
    echo "All packages have been asked about; what is known of them is above."
fi
exit 0

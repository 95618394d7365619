# Asks whether a pinned package is known to have a hole. Advice only: whatever is found, or cannot be asked, it ends well.

python=$1
if ! [ -x build/audit/bin/pip-audit ]; then
    "$python" -m venv build/audit && build/audit/bin/python -m pip install -qq --disable-pip-version-check pip-audit ||
        echo "pip-audit is not to be had just now"
fi
for pins in play develop node; do
    echo "requirements/$pins.txt:"
    build/audit/bin/pip-audit --progress-spinner off --disable-pip --require-hashes -r "requirements/$pins.txt" ||
        echo "look at what is above; where nothing is, nobody could be asked"
done
echo "clients/web/package-lock.json:"
(cd clients/web && npm audit) || echo "look at what is above; where nothing is, nobody could be asked"
exit 0

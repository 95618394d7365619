# The wheel, with the page in it. All that builds it is pinned by its hash, the Node.js for the page too.
FROM python:3.13-slim@sha256:9662417aace5ae7b8e2609cce472b72a8958e134ba372808abe9cc1a0c0125e6 AS build
WORKDIR /src
COPY requirements/play.txt requirements/build.txt requirements/node.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/build.txt -r requirements/node.txt && \
    python -m venv --without-pip /opt/slapjack && \
    pip --python /opt/slapjack/bin/python install --no-cache-dir --require-hashes -r requirements/play.txt
COPY . .
RUN pip wheel --no-cache-dir --no-build-isolation --no-deps --wheel-dir /wheel . && \
    pip --python /opt/slapjack/bin/python install --no-cache-dir --no-index --no-deps /wheel/*.whl

FROM python:3.13-slim@sha256:9662417aace5ae7b8e2609cce472b72a8958e134ba372808abe9cc1a0c0125e6
RUN useradd --system --uid 1000 --home-dir /data slapjack && \
    install -d -o slapjack -g slapjack -m 700 /data
COPY --from=build /opt/slapjack /opt/slapjack
ENV PATH=/opt/slapjack/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SLAPJACK_DATA=/data
USER slapjack
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ.get('SLAPJACK_PORT') or 8000}/healthz\", timeout=2)"]
CMD ["slapjack", "serve"]

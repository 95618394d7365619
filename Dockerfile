# syntax=docker/dockerfile:1

# The wheel, with the page in it; the build fetches the Node.js that it needs.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements/play.txt requirements/
RUN python -m venv --without-pip /opt/slapjack && \
    pip --python /opt/slapjack/bin/python install --no-cache-dir --require-hashes -r requirements/play.txt
COPY . .
RUN pip --python /opt/slapjack/bin/python install --no-cache-dir --no-deps .

FROM python:3.13-slim
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

# Two stages: the first builds the environment, the second carries only what runs.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY requirements/runtime.lock requirements/build.lock requirements/
RUN python -m venv /opt/rankery \
    && /opt/rankery/bin/pip install --no-cache-dir --require-hashes --requirement requirements/runtime.lock \
    && /opt/rankery/bin/pip install --no-cache-dir "setuptools>=80" \
    && /opt/rankery/bin/pip install --no-cache-dir --require-hashes --target /opt/build --requirement requirements/build.lock
COPY pyproject.toml README.md LICENSE mkdocs.yml ./
COPY app app
COPY worker worker
COPY core core
COPY rankery rankery
COPY server server
COPY tools tools
COPY guide guide
COPY docs docs
RUN export NUMBA_CACHE_DIR=/opt/build/numba-cache PYTHONPATH=/opt/build \
    && /opt/rankery/bin/python -m tools.generate_client \
    && /opt/rankery/bin/python -m guide
RUN /opt/rankery/bin/pip install --no-cache-dir --no-deps --no-build-isolation . ./server \
    && NUMBA_CACHE_DIR=/opt/rankery/numba-cache /opt/rankery/bin/python -c "from core.warm_up import warm_up; warm_up()"

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home rankery \
    && install -d -o rankery -g rankery /var/lib/rankery
COPY --from=build --chown=rankery:rankery /opt/rankery /opt/rankery
ENV PATH=/opt/rankery/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/opt/rankery/numba-cache \
    RANKERY_DATA_DIR=/var/lib/rankery
USER rankery
WORKDIR /var/lib/rankery
VOLUME /var/lib/rankery
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["rankery"]
CMD ["api"]

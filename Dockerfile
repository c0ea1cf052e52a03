FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/ingest
ENV PATH=/opt/ingest/bin:$PATH
# Dependencies first: they change less often than the code, so their layer stays cached.
COPY requirements.lock .
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY migrations migrations
COPY ingest ingest
COPY api api
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --uid 10001 --no-create-home --home-dir /data ingest \
    && install -d -o ingest -g ingest -m 0700 /data
COPY --from=build /opt/ingest /opt/ingest
# Tesseract languages for text recognition, such as "eng deu chi_sim"; empty: tesseract is not installed.
ARG TESSERACT_LANGUAGES=""
RUN if [ -n "$TESSERACT_LANGUAGES" ]; then \
        apt-get update \
        && apt-get install -y --no-install-recommends tesseract-ocr tesseract-ocr-osd \
            $(printf 'tesseract-ocr-%s ' $TESSERACT_LANGUAGES | tr _ -) \
        && rm -rf /var/lib/apt/lists/*; \
    fi
ENV PATH=/opt/ingest/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    INGEST_DATA_DIR=/data \
    INGEST_HOST=0.0.0.0
USER ingest
WORKDIR /data
VOLUME /data
EXPOSE 8000
# Exec form: signals reach the service, which returns its jobs to the queue and stops Postgres.
ENTRYPOINT ["ingest"]
CMD ["serve"]

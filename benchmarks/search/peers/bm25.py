"""BM25 as recommended by bm25s: English stop words, Snowball stemmer, Lucene's formula.

k1 and b are the library's defaults (1.5, 0.75). Of the usual BM25 settings (k1 0.9 to 1.5, b 0.4 to
0.75, with and without stop words) these rank Cranfield best.
"""

import json
import sys

import bm25s
import Stemmer


def main() -> None:
    task = json.load(sys.stdin)
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens(task["documents"]), show_progress=False)
    found, _ = index.retrieve(tokens(task["questions"]), k=task["depth"], show_progress=False)
    print(json.dumps({"rankings": found.tolist()}))


if __name__ == "__main__":
    main()

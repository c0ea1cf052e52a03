"""Made-up goods and prose of a size, for the pages of pdf_structure_cases.py."""

import random

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph

Table = list[list[str]]


BEFORE = "Please find below what was agreed between both parties in the spring of that year."


AFTER = "All of it is due within thirty days of the date that is printed at the head of this page."


NOUNS = [
    "bolt",
    "washer",
    "nut",
    "rod",
    "plate",
    "hinge",
    "valve",
    "gasket",
    "pump",
    "motor",
    "sensor",
    "cable",
    "frame",
    "bracket",
    "lever",
]


KINDS = ["steel", "brass", "copper", "zinc", "rubber", "plain", "heavy", "light", "narrow", "wide"]


PLACES = [
    "Oslo",
    "Bergen",
    "Harbour",
    "Lyon",
    "Porto",
    "Gdansk",
    "Vienna",
    "Turin",
    "Leeds",
    "Ghent",
]


class Made:
    """Random but repeatable words."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # not for security
        self.size = self.random.choice([8, 9, 10, 11])
        self.sheet = getSampleStyleSheet()["BodyText"].clone("body", fontSize=self.size)

    def item(self) -> str:
        return f"{self.random.choice(KINDS)} {self.random.choice(NOUNS)} M{self.number(3, 40)}"

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def price(self) -> str:
        return f"{self.number(1, 4000):,}.{self.number(10, 99)}"

    def goods(self, count: int) -> Table:
        rows = [
            [f"A-{1000 + row}", self.item().capitalize(), str(self.number(1, 900)), self.price()]
            for row in range(count)
        ]
        return [["Article", "Description", "Quantity", "Amount"], *rows]

    def wrapped(self, rows: Table) -> Table:
        """The same with a longer description, which takes several lines."""
        long = [
            f"{row[1]} with {self.item()} and {self.item()}, packed in boxes of {self.item()}"
            for row in rows[1:]
        ]
        return [
            rows[0],
            *([row[0], text, *row[2:]] for row, text in zip(rows[1:], long, strict=True)),
        ]

    def prose(self, words: int) -> str:
        found = [self.random.choice((*NOUNS, *KINDS, "of", "the", "and")) for _ in range(words)]
        return " ".join(found).capitalize() + "."

    def paragraph(self, text: str) -> Paragraph:
        return Paragraph(text, self.sheet)

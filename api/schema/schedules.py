"""Rescrape schedules in requests and responses."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from api.problems import FieldRejected
from api.schema.json_model import Body, Text
from ingest.scheduling import recurrence
from ingest.scheduling.recurrence import Recurrence


class Schedule(Body):
    """A cron expression in the local time of a zone."""

    cron: Annotated[Text, Field(min_length=1, max_length=recurrence.MAX_LENGTH)]
    timezone: Annotated[Text, Field(min_length=1, max_length=100)] = "UTC"


def checked(schedule: Schedule | None, *, loc: Sequence[str]) -> Recurrence | None:
    """Validate the schedule and return it in the form to store.

    Raises FieldRejected with the path of the invalid field, which starts with `loc`.
    """
    return None if schedule is None else parse(schedule, loc=loc)


def parse(schedule: Schedule, *, loc: Sequence[str]) -> Recurrence:
    """As `checked`."""
    try:
        return recurrence.parse(schedule.cron, schedule.timezone)
    except ValueError as error:
        field, _, reason = str(error).partition(": ")
        raise FieldRejected(reason, loc=(*loc, field)) from None

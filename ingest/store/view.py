"""Base of the rows that the API returns as they are, so that each field is written once.

Their JSON has camelCase names. A column that only the API's code reads is `Field(exclude=True)`.
"""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

UtcTime = Annotated[datetime, AfterValidator(lambda time: time.astimezone(UTC))]
"""Written with a final `Z`, whatever the time zone of the database session."""


class View(BaseModel):
    """An answer, or a part of one: built from the columns of a row, or from an object."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=False,
        from_attributes=True,
        frozen=True,
    )

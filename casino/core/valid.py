"""A new row judged as `full_clean` judges it, but for the checks of its table, which the database makes as it is
written: Django asks the database about each of them beforehand, and takes a failure of that question for a yes."""

from collections.abc import Collection

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import IntegrityError
from django.db.models import CheckConstraint, Model


def create(row: Model, known: Collection[str] = ()) -> None:
    """Write a new row, or refuse what its fields, its model or a check of its table refuses, in the words of
    `full_clean`. `known`: relations whose rows were read. Raises ValidationError, after which the transaction must end;
    IntegrityError where another row is the same by a unique constraint, which is for the caller to see."""
    row.clean_fields(exclude=known)
    row.clean()
    row.validate_unique(exclude=known)
    try:
        row.save(force_insert=True)
    except IntegrityError as error:
        violated = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        for one in row._meta.constraints:
            if isinstance(one, CheckConstraint) and one.name == violated:
                raise ValidationError({NON_FIELD_ERRORS: [one.get_violation_error_message()]}) from error
        raise

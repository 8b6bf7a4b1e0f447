"""Values as the engine keeps them: plain JSON, the names of an object in the order that they have in the program."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory


class Ordered(JSONPlainPayloadConverter):
    """JSON whose names are not sorted: the order of inputs is part of what a role is told."""

    def to_payload(self, value: Any) -> Payload:
        """The payload of a JSON value."""
        data = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        return Payload(metadata={"encoding": self.encoding.encode()}, data=data)


class Values(CompositePayloadConverter):
    """The engine's own converters, with ours for JSON."""

    def __init__(self) -> None:
        """Put ours in the place of theirs."""
        known = DefaultPayloadConverter.default_encoding_payload_converters
        super().__init__(*(Ordered() if isinstance(one, JSONPlainPayloadConverter) else one for one in known))


class Failures(DefaultFailureConverter):
    """Failures without the lines of our code where they are what a run or a service came to, and no fault of ours."""

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """Fill in a failure."""
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, ApplicationError) and exception.category is ApplicationErrorCategory.BENIGN:
            failure.stack_trace = ""


CONVERTER = replace(DataConverter.default, payload_converter_class=Values, failure_converter_class=Failures)
"""What clients, workers and replays are made with."""

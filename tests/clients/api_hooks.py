"""Teaches schemathesis the media types of the API that it does not know (api_test.py)."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def json_lines(_context, value):
    """A body of JSON Lines is a text."""
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.serializer("application/zip")
def archive(_context, value):
    """The example of a bundle is a ZIP whose bytes are all ASCII; other texts are no ZIP, and are refused."""
    return value if isinstance(value, bytes) else str(value).encode()

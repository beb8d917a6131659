"""The use of pydantic: models whose JSON Schema is plain, and reasons why a type cannot be had from JSON."""

import re
import sys
import types
import typing
import warnings

from toolset_paths import MAX_TEXT_CHARACTERS, shortened, text_of, told
from toolset_signature import BindingError, check_size

import pydantic
import typing_extensions
from pydantic.json_schema import GenerateJsonSchema

# These are also the rules for dataclasses and TypedDicts, which have none of their own: bytes are base64, and arguments of
# unknown names are refused. A result may have more than its hint says.
RESULT = pydantic.ConfigDict(val_json_bytes="base64", ser_json_bytes="base64", hide_input_in_errors=True)
ARGUMENTS = pydantic.ConfigDict(RESULT, extra="forbid")

# Pydantic asks a TypedDict for its bases, which Python's own tells only from 3.12 on. The code of toolsets is loaded later,
# and gets the one that tells.
if sys.version_info < (3, 12):
    typing.TypedDict = typing_extensions.TypedDict
    typing.is_typeddict = typing_extensions.is_typeddict

UNIONS = (typing.Union, types.UnionType)


def type_to_json_schema(type):
    """The JSON Schema of the values that can become this type."""
    return schema_of(type, "validation", "the type")


def schema_of(hint, mode, what):
    check_size(hint, what)
    try:
        config = ARGUMENTS if mode == "validation" else RESULT
        schema = json_schema(model({"value": (hint, ...)}, [], config), mode, [])
    except MemoryError:
        raise
    except Exception as error:  # A type of the author may raise anything.
        raise BindingError(f"{what}: there is no JSON Schema for its type: {reason(error)}") from None
    value, definitions = schema["properties"]["value"], schema.get("$defs", {})
    name = value.get("$ref", "").removeprefix("#/$defs/")
    if len(value) == 1 and name in definitions and not _refers(definitions, value["$ref"]):
        value = definitions.pop(name)
    return {**value, "$defs": definitions} if definitions else value


def model(fields, notes, config=ARGUMENTS):
    """A model of these fields. Its name is none of a class, so that no class of the author is renamed in `$defs`."""
    with _noting(notes):
        made = pydantic.create_model("the arguments", __config__=config, __module__=__name__, **fields)
    if made.model_fields.keys() != fields.keys():
        raise TypeError("a hint is for attributes of classes, as ClassVar is")
    return made


def json_schema(model, mode, notes):
    with _noting(notes):
        schema = model.model_json_schema(by_alias=True, mode=mode, schema_generator=_Generator)
    if "properties" not in schema:
        raise TypeError("a hint means the class around it, as Self does, and there is none")
    return schema


def plain_text(hint):
    """The text in `Annotated[str, "text"]` or in `Annotated[str, Doc("text")]`, also of the one type beside `None`."""
    for each in metadata(hint):
        text = each.documentation if isinstance(each, typing_extensions.Doc) else each
        if isinstance(text, str) and text:
            return text
    return None


def metadata(hint):
    """What `Annotated` says about a type, or about the one type beside `None`; the last first."""
    if typing.get_origin(hint) in UNIONS:
        members = [each for each in typing.get_args(hint) if each is not type(None)]
        hint = members[0] if len(members) == 1 else None
    return reversed(getattr(hint, "__metadata__", ()))


def reason(error):
    """The first sentence of pydantic's text, which goes on with advice and an address that do not help here."""
    if isinstance(error, pydantic.errors.PydanticErrorMixin):
        return shortened(re.split(r"\. |\n", str(error), maxsplit=1)[0], MAX_TEXT_CHARACTERS)
    return told(error)


def _refers(schema, reference):
    """Whether a schema has a reference. A value that only looks like one does no harm."""
    if isinstance(schema, dict):
        return schema.get("$ref") == reference or any(_refers(each, reference) for each in schema.values())
    return isinstance(schema, list) and any(_refers(each, reference) for each in schema)


class _noting(warnings.catch_warnings):
    """Takes warnings as notes. To print a warning, Python would open the file of the line that warns."""

    def __init__(self, notes):
        super().__init__(record=True)
        self.notes = notes

    def __enter__(self):
        self.caught = super().__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *error):
        super().__exit__(*error)
        for each in self.caught:
            text = shortened(text_of(each.message), MAX_TEXT_CHARACTERS)
            if not issubclass(each.category, pydantic.warnings.TypedDictExtraConfigWarning) and text not in self.notes:
                self.notes.append(text)


class _Generator(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes of names, and what is not JSON Schema. Titles of the author stay."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

    def generate(self, schema, mode="validation"):
        self.enums = set()
        made = super().generate(schema, mode)
        for each in made.get("$defs", {}).values():
            if "enum" in each and each.get("title") in self.enums:  # This title is set after `enum_schema`.
                del each["title"]
        return made

    def enum_schema(self, schema):
        self.enums.add(schema["cls"].__name__)
        return super().enum_schema(schema)

    def field_title_should_be_set(self, schema):
        return False

    def model_schema(self, schema):
        return self._of_class(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema):
        with self._config_wrapper_stack.push(_encodings(schema)):
            return self._of_class(super().dataclass_schema(schema), schema["cls"])

    def typed_dict_schema(self, schema):
        with self._config_wrapper_stack.push(_encodings(schema)):
            return self._of_class(super().typed_dict_schema(schema), schema.get("cls"))

    def _of_class(self, made, cls):
        if cls is not None and made.get("title") == cls.__name__:
            del made["title"]
        for name, text in _plain_texts(cls).items():
            found = made.get("properties", {}).get(self._key(cls, name))
            if isinstance(found, dict):
                found.setdefault("description", text)
        return made

    def _key(self, cls, name):
        """The name of a field in JSON."""
        field = getattr(cls, "__pydantic_fields__", {}).get(name)
        alias = field and (field.validation_alias if self.mode == "validation" else field.serialization_alias)
        return alias if isinstance(alias, str) else name

    def tagged_union_schema(self, schema):
        made = super().tagged_union_schema(schema)
        made.pop("discriminator", None)  # A keyword of OpenAPI.
        return made

    def named_tuple_schema(self, schema):
        """The items of an array have no names, so these titles do tell something."""
        made = super().named_tuple_schema(schema)
        for item, field in zip(made.get("prefixItems", ()), schema["fields"]):
            item.setdefault("title", field["name"])
        return made

    def bytes_schema(self, schema):
        encoding = self._config.val_json_bytes if self.mode == "validation" else self._config.ser_json_bytes
        if encoding == "utf8":
            return super().bytes_schema(schema)
        return {"type": "string", "contentEncoding": "base64" if encoding == "base64" else "base16"}


def _encodings(schema):
    """How a dataclass or a TypedDict writes bytes: as the model around it does, which the schema does not say by itself."""
    config = schema.get("config", {})
    return {name: config[name] for name in ("val_json_bytes", "ser_json_bytes") if name in config}


def _plain_texts(cls):
    """The texts in hints such as `Annotated[str, "text"]` of a class. Hints that cannot be evaluated here have none."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except MemoryError:
        raise
    except Exception:
        return {}
    texts = {name: plain_text(hint) for name, hint in hints.items()}
    return {name: text for name, text in texts.items() if text}

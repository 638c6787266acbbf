"""fits.py SCHEMA DOCUMENT: checks a JSON document against a schema; prints what does not fit."""

import json
import pathlib
import sys

import jsonschema

schema, document = [json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:]]
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
found = [f"{error.json_path}: {error.message[:300]}" for error in kind(schema).iter_errors(document)]
print("\n".join(found))
sys.exit(bool(found))

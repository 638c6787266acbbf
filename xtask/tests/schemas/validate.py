"""validate.py SPDX_SCHEMA SPDX CYCLONEDX: checks the two SBOMs of a release against the published schemas; prints what does not fit."""

import json
import pathlib
import sys

import cyclonedx.schema
import jsonschema
from referencing import Registry, Resource


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def complaints(schema, document, registry=Registry()):
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    checker = kind(schema, registry=registry, format_checker=kind.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message[:300]}" for error in checker.iter_errors(document)]


spdx_schema, spdx, cyclonedx_bom = sys.argv[1:]
found = complaints(load(spdx_schema), load(spdx))
folder = pathlib.Path(cyclonedx.schema.__file__).parent / "_res"
parts = {
    name: Resource.from_contents(load(folder / f"{name.removesuffix('.schema.json')}.SNAPSHOT.schema.json"))
    for name in ("spdx.schema.json", "jsf-0.82.schema.json", "cryptography-defs.schema.json")
}
schema = load(folder / "bom-1.6.SNAPSHOT.schema.json")
base = schema["$id"].rsplit("/", 1)[0]
resources = [(f"{base}/{name}", part) for name, part in parts.items()]
resources += [(f"{base}/{name.replace('.schema', '.SNAPSHOT.schema')}", part) for name, part in parts.items()]
found += complaints(schema, load(cyclonedx_bom), Registry().with_resources(resources))
print("\n".join(found))
sys.exit(bool(found))

"""Read a marshmallow schema as JSON Schema, as a plan for what comes in and as a check for what goes out.

Inside this room the arrows point one way: `errors`, `text`, `plain` and `patterns` know nothing of the others;
`values`, `merge`, `hooks` and `nesting` stand on them; `temporal`, `fields` and `validators` each say what one
kind of object means; `convert` joins them; `integers`, `faults`, `conform` and `raw` serve a call.
"""

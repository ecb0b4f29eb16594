"""Read a marshmallow schema as JSON Schema, as a plan for what comes in and as a check for what goes out.

Inside this room the arrows point one way, and none between neighbours:

    errors  text  plain  patterns  hooks  shown
    values  nesting  native
    merge  shapes  bounds  rules
    temporal  scalars  validators  annotations  integers  reading
    fields
    convert  declared  loading  faults  conform  culprit  raw
    dumping
"""

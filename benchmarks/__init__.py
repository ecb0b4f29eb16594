"""What the package costs beside a plain Flask view and beside other servers. `python -m benchmarks --help` says how."""

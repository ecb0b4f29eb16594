"""The servers that are measured, one file each, all doing what `benchmarks.work` does. Each runs in an environment that
has its framework, so that nothing here may be imported from elsewhere than there."""

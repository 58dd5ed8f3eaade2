"""The version of the package; the build checks that it is the project's."""

__version__ = "0.11.0"

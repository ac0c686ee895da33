"""What pyproject.toml has no words for: three source folders that are one package."""

import shutil
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

FOLDERS = {"mlir_fp8": "python", "mlir_fp8.dialects": "dialects", "mlir_fp8.lowering": "lowering"}
# torch-mlir has no types for the modules that mlir_fp8 takes and gives.
STUBS = "torch_mlir-stubs"


def packages() -> list[str]:
    """Each folder below the three, those of data too, so that none is to be listed."""
    names: list[str] = []
    for name, folder in FOLDERS.items():
        below = find_namespace_packages(folder, exclude=["*__pycache__*"])
        names += [name, *(f"{name}.{package}" for package in below)]
    return names


class BuildFromScratch(build_py):
    """Without what an earlier build left, or modules that have moved since would go along."""

    def run(self) -> None:
        if not self.editable_mode and Path(self.build_lib).is_dir():
            shutil.rmtree(self.build_lib)
        super().run()


setup(
    packages=[*packages(), STUBS, f"{STUBS}._mlir_libs"],
    package_dir={**FOLDERS, STUBS: "typings/torch_mlir"},
    package_data={"": ["*"]},
    exclude_package_data={"": ["*.pyc", "*.code"]},
    cmdclass={"build_py": BuildFromScratch},
)

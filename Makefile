PYTHON ?= .venv/bin/python
native:
	cmake -S . -B build/native -G Ninja -DPython_EXECUTABLE=$(abspath $(PYTHON)) > /dev/null
	cmake --build build/native
	cmake --install build/native --prefix src > /dev/null

"""The methods that the declarations give an engine, generated or composed of them."""

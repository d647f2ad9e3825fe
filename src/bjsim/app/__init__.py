"""The laboratory in the browser: `bjsim app`."""

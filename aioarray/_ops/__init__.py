"""The operations: each an ``Op`` (data) and a ``Definition`` (what a public function runs), in one table by kind."""

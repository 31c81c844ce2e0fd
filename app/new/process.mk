VOLERY ?= @volery@

fly:
	"$(VOLERY)" run @name@.yaml

.PHONY: fly

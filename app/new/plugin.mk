VOLERY ?= @volery@
CFLAGS ?= -O2 -Wall -Wextra

@name@.so: @name@.c
	$(CC) $(CFLAGS) -shared -fPIC -ffp-contract=off -I"@headers@" $< -o $@ -lm

fly: @name@.so
	"$(VOLERY)" run @name@.yaml

.PHONY: fly

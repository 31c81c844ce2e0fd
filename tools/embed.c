// embed.c - embed HEADER NAME FILE: prints a C source that holds the file, packed by zlib, as HEADER declares
// it.
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static unsigned char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long length = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)length + 1);
    if (data != NULL) *size = fread(data, 1, (size_t)length, file);
    if (file != NULL) fclose(file);
    return data;
}

int main(int count, char **words)
{
    size_t size = 0;
    unsigned char *data = count == 4 ? read_all(words[3], &size) : NULL;
    uLongf packed_size = compressBound((uLong)size);
    unsigned char *packed = malloc(packed_size);
    if (data == NULL || packed == NULL || compress2(packed, &packed_size, data, (uLong)size, 9) != Z_OK) {
        fprintf(stderr, "embed: cannot read or pack %s\n", count == 4 ? words[3] : "nothing");
        return 1;
    }
    printf("// made by tools/embed.c\n#include \"%s\"\n\nconst unsigned char %s_packed[] = {", words[1],
           words[2]);
    for (size_t i = 0; i < packed_size; ++i) printf("%s%d,", i % 24 == 0 ? "\n" : "", packed[i]);
    printf("\n};\nconst size_t %s_packed_size = %lu;\nconst size_t %s_size = %zu;\n", words[2], packed_size,
           words[2], size);
    free(packed);
    free(data);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

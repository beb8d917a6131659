# Output: too much of it, broken, or none where some is expected.
import json, re, typing
sys = typing.sys
posix = sys.modules["posix"]

#: flood -> killed
for each in range(200): print("x" * (1 << 20))

#: flood_of_errors -> killed
for each in range(200): print("x" * (1 << 20), file=sys.stderr)

#: flood_of_lines -> killed|timeout time=0.4
while True: print("x")

#: flood_of_results -> killed
while True: posix.write(3, b"x" * 65536)

#: flood_of_all -> killed
while True:
    for each in (1, 2, 3): posix.write(each, b"\xff" * 65536)

#: much_but_no_flood -> ok
print("x" * (4 << 20))

#: one_line_without_end -> ok prints=x
sys.stdout.write("x")

#: nuls -> ok
print("\0" * 1000)

#: broken_text -> ok
posix.write(1, b"\xff\xfe\x80" * 10000)

#: broken_at_the_end -> ok
posix.write(1, "é".encode()[:1])

#: half_pairs -> ok
print("a\ud800b")

#: half_pairs_to_errors -> ok
print("a\udfffb", file=sys.stderr)

#: wide_characters_at_the_cut -> ok
print("x" + "😀" * 40000)

#: escape_sequences -> ok
print("\x1b[2J\x1b]0;x\x07\r\b")

#: json_in_output -> ok prints=","ok":true}
print('","ok":true}')

#: all_closed -> killed
for each in range(10):
    try:
        posix.close(each)
    except OSError:
        pass
try:
    print("nobody hears")
except OSError:
    pass

#: result_closed -> killed
posix.close(3)

#: outputs_closed -> ok
posix.close(1); posix.close(2)

#: other_descriptors -> ok prints=[1,2,3]
open_ones = []
for each in range(1024):
    try:
        posix.lseek(each, 0, 1)
    except OSError as error:
        if error.errno == 29:  # A pipe.
            open_ones.append(each)
    else:
        open_ones.append(each)
print(str(open_ones).replace(" ", ""))

#: write_anywhere -> ok prints=0
written = 0
for each in [0, *range(4, 300)]:
    try:
        written += posix.write(each, b"X")
    except OSError:
        pass
print(written)

#: seek_the_pipes -> exception
posix.lseek(1, 0, 0)

#: evil_repr -> exception
class Evil:
    def __repr__(self): return 1
print(Evil())

#: print_to_nothing -> exception
print("x", file=object())

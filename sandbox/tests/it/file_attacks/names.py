# Names that are no names of files of a session, and some that only look so.
import os

#: name_that_is_no_text -> ok fault=is_not_UTF-8
open(b"\xff", "w").close()

#: name_with_half_a_character -> ok fault=is_not_UTF-8
open("é".encode()[:1], "w").close()

#: name_of_a_surrogate -> ok fault=is_not_UTF-8
open(b"\xed\xa0\x80", "w").close()

#: directory_that_is_no_text -> ok fault=is_not_UTF-8
os.mkdir(b"\xff")

#: name_with_a_newline -> ok fault=control_characters
open("a\nb", "w").close()

#: name_with_a_tab -> ok fault=control_characters
open("a\tb", "w").close()

#: name_with_an_escape -> ok fault=control_characters
open("\x1b[2J", "w").close()

#: name_with_delete -> ok fault=control_characters
open("\x7f", "w").close()

#: name_with_an_upper_control -> ok fault=control_characters
open("\x85", "w").close()

#: directory_with_a_newline -> ok fault=control_characters
os.makedirs("a\nb/c")

#: name_with_nul -> exception
open("a\0b", "w").close()

#: name_cut_at_nul -> ok changed=/a
import ctypes
ctypes.CDLL(None).open(b"a\0b", os.O_CREAT | os.O_WRONLY, 0o600)

#: longest_name -> ok changed=*
open("x" * 255, "w").close()

#: longest_name_of_wide_characters -> ok changed=*
open("é" * 127, "w").close()

#: name_that_is_too_long -> exception
open("x" * 256, "w").close()

#: longest_path -> ok changed=*
# With its slashes, it has exactly 1,024 bytes.
os.makedirs("/".join(["x" * 250] * 4))
open("/".join(["x" * 250] * 4 + ["y" * 19]), "w").close()

#: path_that_is_too_long -> ok fault=is_longer_than_1024_bytes
os.makedirs("/".join(["x" * 250] * 4))
open("/".join(["x" * 250] * 4 + ["y" * 20]), "w").close()

#: names_that_differ_in_case -> ok changed=/A,/a,/Ä,/ä
for name in "aAäÄ":
    open(name, "w").write(name)

#: names_that_differ_in_form -> ok changed=*
open("\u00e9", "w").write("one")
open("e\u0301", "w").write("other")

#: names_of_dots -> ok changed=/...,/....
open("...", "w").close()
open("....", "w").close()

#: names_of_spaces -> ok changed=*
open(" ", "w").close()
open("a ", "w").close()
os.mkdir("  ")
open("  /b", "w").close()

#: names_with_backslashes -> ok changed=/..\..\etc,/a\b
open("a\\b", "w").close()
open("..\\..\\etc", "w").close()

#: names_of_windows -> ok changed=/C:,/NUL,/con.txt
for name in ("C:", "NUL", "con.txt"):
    open(name, "w").close()

#: names_like_options -> ok changed=/--help,/-rf
for name in ("-rf", "--help"):
    open(name, "w").close()

#: names_in_percents -> ok changed=/%00,/%2e%2e%2fetc
for name in ("%2e%2e%2fetc", "%00"):
    open(name, "w").close()

#: names_that_turn_the_direction -> ok changed=*
open("a\u202etxt.exe", "w").close()
open("\u200b", "w").close()
open("\ufeff", "w").close()
open("\u2028", "w").close()

#: names_of_the_folder -> ok changed=/bundle/b,/files/a,/tmp/c
# These are files of the session, and not the parts of the folder.
for name in ("files/a", "bundle/b", "tmp/c"):
    os.mkdir(name.partition("/")[0])
    open(name, "w").close()

#: a_file_becomes_a_directory -> ok changed=/a/b deleted=/a
os.remove("a")
os.mkdir("a")
open("a/b", "w").write("x")
#> files/a
text

#: a_directory_becomes_a_file -> ok changed=/d deleted=/d/a,/d/b/c
import shutil
shutil.rmtree("d")
open("d", "w").write("x")
#> files/d/a
one
#> files/d/b/c
two

#: all_files_are_removed -> ok deleted=/a,/d/b
os.remove("a")
os.remove("d/b")
os.rmdir("d")
#> files/a
text
#> files/d/b
text

#: rewritten_files_are_unchanged -> ok
# The same contents, by another file.
text = open("a").read()
os.remove("a")
open("a", "w").write(text)
open("b", "r+").write("te")
#> files/a
text
#> files/b
text

#: moved_files -> ok changed=/b deleted=/a
os.rename("a", "b")
#> files/a
text

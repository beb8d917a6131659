import toolset_docstring
from support import Case, cases

GOOGLE = """Reads a file.

    The file may be large.

    Args:
        path (str): Where the file is,
            in the workspace.
        limit (Optional[Callable[[int], str]], optional): How much: at most this.
        **options: Anything else.
        *rest: The rest.

    Returns:
        path: is no parameter here
    """

NUMPY = """Reads a file.

    Parameters
    ----------
    path : str
        Where the file is,
        in the workspace.

        A second paragraph.
    left, right : int, optional
        Both sides.
    bare
        Without a type.
    empty : int

    Returns
    -------
    other : str
        Is no parameter.
    """

SPHINX = """Reads a file.

    :param path: Where the file is,
        in the workspace.
    :param int limit: How much
        of it.
    :type limit: int
    :keyword flag: A flag.
    :param dict[str, int] table: A table.
    :returns: path: nothing
    :raises ValueError: never
    """


class Docstrings(Case):
    @cases(
        google=(
            GOOGLE,
            {
                "path": "Where the file is, in the workspace.",
                "limit": "How much: at most this.",
                "options": "Anything else.",
                "rest": "The rest.",
            },
        ),
        numpy=(
            NUMPY,
            {
                "path": "Where the file is, in the workspace.\n\nA second paragraph.",
                "left": "Both sides.",
                "right": "Both sides.",
                "bare": "Without a type.",
            },
        ),
        sphinx=(
            SPHINX,
            {
                "path": "Where the file is, in the workspace.",
                "limit": "How much of it.",
                "flag": "A flag.",
                "table": "A table.",
            },
        ),
        epytext=("Text.\n\n@param path: A path.\n@return: nothing", {"path": "A path."}),
        google_without_text=(
            "\n    Args:\n        filename: File to analyze\n    \n    Returns:\n        A dict.",
            {"filename": "File to analyze"},
        ),
        google_bullets=("Args:\n    - a: One.\n    * `b`: Two.", {"a": "One.", "b": "Two."}),
        google_two_sections=("Args:\n    a: One.\n\nKeyword Args:\n    b: Two.\n", {"a": "One.", "b": "Two."}),
        google_ends_at_text=("Args:\n    a: One.\n\nMore: text\nb: no", {"a": "One."}),
        google_blank_between=("Args:\n    a: One.\n\n    b: Two.", {"a": "One.", "b": "Two."}),
        google_deeper=(
            "Args:\n    a: One:\n        b: part of a\n    c: Three.",
            {"a": "One: b: part of a", "c": "Three."},
        ),
        google_reference=("Args:\n    a: See :class:`X`.", {"a": "See :class:`X`."}),
        google_unicode=("Args:\n    größe: Groß.", {"größe": "Groß."}),
        first_wins=("Args:\n    a: One.\n\n:param a: Two.", {"a": "One."}),
        mixed=("Args:\n    a: One.\n\n:param b: Two.", {"a": "One.", "b": "Two."}),
        sphinx_goes_on=(":param a: One\nand more\n\nnot this\n:param b: Two", {"a": "One and more", "b": "Two"}),
        sphinx_paragraphs=(":param a: One\n\n    and more\n:param b: Two", {"a": "One\n\nand more", "b": "Two"}),
        sphinx_starred=(r":param \*\*options: All.", {"options": "All."}),
        sphinx_without_name=(":param: nothing", {}),
        nothing=("", {}),
        none=(None, {}),
        no_text=(5, {}),
    )
    def parameters(self, docstring, expected):
        self.assertEqual(toolset_docstring.read(docstring)[1], expected)

    @cases(
        google=(GOOGLE, "Reads a file.\n\nThe file may be large."),
        numpy=(NUMPY, "Reads a file."),
        sphinx=(SPHINX, "Reads a file."),
        lines=("Reads\n    a file.", "Reads a file."),
        list=("Reads:\n\n- one\n- two\n  more", "Reads:\n\n- one\n- two\n  more"),
        only_sections=("Args:\n    a: One.", None),
        inline_returns=("Reads a file.\nReturns: the text", "Reads a file."),
        inline_note=("Reads a file.\nNote: it is large.", "Reads a file. Note: it is large."),
        role=(":class:`X` is read.", ":class:`X` is read."),
        doctest=("Reads.\n\n>>> read()\n1", "Reads."),
        text_after_sections=("Reads.\n\nArgs:\n    a: One.\n\nMore text.", "Reads."),
        blank=("   \n ", None),
        none=(None, None),
        second_paragraph_too_long=("First.\n\n" + "x" * 500, "First."),
        first_paragraph_too_long=("x" * 600, "x" * 499 + "…"),
    )
    def text(self, docstring, expected):
        self.assertEqual(toolset_docstring.read(docstring)[0], expected)

    @cases(
        brackets="Args:\n    a (" + "(" * 50_000,
        closing="Args:\n    a (" + ") " * 50_000,
        spaces="Args:\n    a" + " " * 90_000 + "b",
        colons=":param " + "a " * 40_000 + ":" * 10_000,
        headings="a:\n" * 30_000,
        underlines="a\n---\n" * 20_000,
        names="Parameters\n---\n" + "a," * 40_000 + "!",
        stars="Args:\n    " + "\\*" * 40_000,
        endless="x" * 10_000_000,
    )
    def hostile(self, docstring):
        """A docstring takes no longer than its length. A quadratic search would take minutes here."""
        text, described = toolset_docstring.read(docstring)
        self.assertLessEqual(len(text or ""), 500)
        for each in described.values():
            self.assertLessEqual(len(each), 2_000)

"""The rule that decides which answers are right, and what counts as cited."""

import pytest
from arte.questions import BadQuestions, read
from arte.scoring import fits, read_answer, verdict, words

ID = "<2082228.1075841337074.JavaMail.evans@thyme>"


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("It is open until 4:30 pm.", "Monday to Friday it is open until 4:30 p.m."),
        ("$950.00", "The seminar costs 950 dollars."),
        ("1,000 miles", "You get 1000 miles"),
        ("A Burt's Bees starter kit", "the free Burt’s Bees Head to Toe Starter Kit"),
        ("Café Zürich", "at the cafe zurich"),
    ],
)
def test_right_answers_in_other_words(expected, answer):
    assert fits(expected, answer)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("Magnitude 6.8", "The magnitude was 6.9"),
        ("Williams-Sonoma", "The crab shop"),
        ("18 dogs", "Many dogs"),
        ("The meeting is on Friday in the large room", "The meeting is on Monday"),
    ],
)
def test_wrong_answers(expected, answer):
    assert not fits(expected, answer)


def test_a_number_is_a_word_of_its_own():
    assert words("US$400 million, 4:30 pm") == ["us", "400", "million", "4", "30", "pm"]


def test_ids_after_sources_are_cited_even_if_they_were_never_seen():
    answer = read_answer(f"At 4:30.\n\n**Sources:** {ID}, 1.2.JavaMail.evans@thyme", {ID})
    assert answer.text == "At 4:30."
    assert answer.cited == (ID, "<1.2.JavaMail.evans@thyme>")


def test_an_address_in_the_text_is_no_citation():
    assert read_answer("Ask <ada@enron.com>, see " + ID, {ID}).cited == (ID,)


@pytest.mark.parametrize("text", ["", "I don't know.", "I don’t know", "Sorry, I do not know that."])
def test_giving_up_is_no_answer(text):
    assert read_answer(text, set()).is_dont_know


def test_a_verdict_is_found_after_reasoning():
    assert verdict('{"a": 1}\n```json\n{"reason": "same", "correct": true}\n```') == (True, "same")
    with pytest.raises(ValueError, match="no verdict"):
        verdict("It is correct.")


def test_rows_of_arte_are_left_out_as_arte_does(tmp_path):
    row = '{"id": %d, "question": "q", "answer": "a", "message_ids": %s, "how_realistic": 1, "inbox_address": "a@b"}\n'
    file = tmp_path / "q.jsonl"
    file.write_text(row % (1, '["<1@x>"]') + row % (2, '["<1@x>", "<2@x>"]') + row % (49, '["<1@x>"]'))
    questions = read(file)
    assert ([it.id for it in questions.all], questions.left_out) == (["1"], 2)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"question": "q", "message_ids": []}', "inbox_address is missing"),
        ("{", "is no JSON Lines"),
        ("", "has no questions"),
    ],
)
def test_a_bad_file_is_told_with_its_fault(tmp_path, line, fault):
    file = tmp_path / "q.jsonl"
    file.write_text(line)
    with pytest.raises(BadQuestions, match=fault):
        read(file)

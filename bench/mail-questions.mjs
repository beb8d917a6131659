// Questions that are made from mail: node bench/mail-questions.mjs MAILDIR [COUNT [SEED]]
//
// MAILDIR is a folder in CMU's layout. The script prints JSON Lines in the form that mail-quality.mjs reads; the same arguments
// always give the same questions. A question has two to four rare words of one sentence of one email. The words are inflected (a
// plural becomes a singular, a present tense becomes a past tense, and so on), except for names and adjectives. Stop words stand
// between the words. Every email that holds the same sentence is a right answer.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const OWNERS = fileURLToPath(new URL("../import/src/owners.tsv", import.meta.url));
const MOST_WORDS = 4;
const FEWEST_WORDS = 2;
/** A word is rare if at most one email of this many has it. */
const RARE = 50;

/** Sentences with gaps for the words. All other words are stop words. */
const FRAMES = {
  2: [["What was the", "about with the", "?"], ["Who did that", "for the", "?"], ["Is there any", "from their", "?"]],
  3: [["What is the", "of the", "that we had", "?"], ["How many", "and", "were there with", "?"], ["When did they have the", "or the", "for a", "?"]],
  4: [["Which", "and", "are about the", "of", "?"], ["Why does the", "have to", "with some", "and", "?"], ["Where can I", "the", "if it is", "by", "?"]],
};

/** A small generator of random numbers from 0 to 1 (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The mailboxes' owners, by the importer's own table. */
function owners() {
  const lines = readFileSync(OWNERS, "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split("\t")));
}

/** Message-ID and plain text of a file. Transfer encodings are not decoded: words that they cut are only bad words. */
function readMail(file) {
  const text = readFileSync(file, "latin1").replaceAll("\r\n", "\n");
  const end = text.indexOf("\n\n");
  const id = /^message-id: *(<[^\n]+>)/im.exec(text.slice(0, end))?.[1];
  return end < 0 || id === undefined ? [] : [{ id, body: text.slice(end) }];
}

function readMaildir(folder) {
  const table = owners();
  return readdirSync(folder).sort().flatMap((box) =>
    readdirSync(join(folder, box), { recursive: true, withFileTypes: true })
      .filter((it) => it.isFile())
      .map((it) => join(it.parentPath ?? it.path, it.name))
      .sort()
      .flatMap(readMail)
      .map((mail) => ({ ...mail, inbox: table.get(box) ?? box })),
  );
}

const wordsOf = (text) => text.toLowerCase().match(/[a-z]+/g) ?? [];
/** One space between words, so that a sentence is recognised after its lines were broken elsewhere. */
const plain = (text) => wordsOf(text).join(" ");
const sentencesOf = (body) => body.split(/[.!?](?:\s|$)|\n\s*\n/);

/** Names and abbreviations are capitalised within their sentence, and are not inflected. */
const isName = (word, sentence) => new RegExp(`[a-z,] +${word[0].toUpperCase()}${word.slice(1)}\\b|\\b${word.toUpperCase()}\\b`).test(sentence);

const vowel = (letter) => "aeiou".includes(letter);
/** The last letter is doubled before an ending: plan, planned. */
const doubles = (word) => /^[^aeiou]*[aeiou][bdgklmnprt]$/.test(word) && word.length <= 4;

function withEnding(word, ending) {
  if (ending === "s") {
    if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
    return word.endsWith("y") && !vowel(word.at(-2)) ? `${word.slice(0, -1)}ies` : `${word}s`;
  }
  if (word.endsWith("e")) return word.slice(0, -1) + ending;
  if (word.endsWith("y") && !vowel(word.at(-2)) && ending === "ed") return `${word.slice(0, -1)}ied`;
  return (doubles(word) ? word + word.at(-1) : word) + ending;
}

/** The word without its ending, or undefined if it has none. `known` are the words of the corpus: they tell a final e. */
function withoutEnding(word, known) {
  const ending = /^(.{2,}?)(ies|ied|ing|ed|es|s)$/.exec(word);
  if (ending === null || /(?:ss|us|is)$/.test(word) || !/[aeiouy]/.test(ending[1])) return undefined;
  const [, stem, end] = ending;
  if (end === "s") return stem.length > 2 ? stem : undefined;
  if (end === "ies" || end === "ied") return `${stem}y`;
  const single = /([^aeiou])\1$/.test(stem) ? stem.slice(0, -1) : stem;
  // Of an unknown plural in es, only the s is certain: spouses.
  return [`${stem}e`, stem, single].find((it) => known.has(it)) ?? (end === "es" ? `${stem}e` : undefined);
}

/** Adverbs and adjectives have no plural and no tense. */
const isFixed = (word) => /(?:ly|ous|ive|able|ible|ful|less|est|al|ic)$/.test(word);

/** Another form of the word: a plural or singular, or another tense if the corpus tells that the word is a verb. */
function inflected(word, known, random) {
  if (isFixed(word)) return word;
  const base = withoutEnding(word, known) ?? word;
  // The word is a tense of a verb that the corpus does not have.
  if (base === word && /(?:ed|ing)$/.test(word)) return word;
  const tenses = ["ed", "ing"].map((it) => withEnding(base, it));
  const isVerb = tenses.some((it) => known.has(it));
  const forms = [base, withEnding(base, "s"), ...(isVerb ? tenses : [])].filter((it) => it !== word);
  return forms[Math.floor(random() * forms.length)];
}

export function makeQuestions(folder, count, seed) {
  const mails = readMaildir(folder);
  if (mails.length === 0) throw new Error(`${folder} has no mail`);
  const random = randomFrom(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const texts = mails.map((it) => plain(it.body));
  const frequency = new Map();
  for (const text of texts) for (const word of new Set(text.split(" "))) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const isRare = (word) => word.length >= 4 && word.length <= 14 && frequency.get(word) <= Math.max(3, mails.length / RARE);
  const questions = [];
  for (let tries = 0; questions.length < count && tries < 100 * count; tries++) {
    const { body, inbox } = pick(mails);
    const sentence = pick(sentencesOf(body));
    // A sentence, and no table, list of addresses or signature.
    if (!/[a-z] [a-z]/.test(sentence) || /[@=_|<>]|\d{3}|:\/\//.test(sentence)) continue;
    const words = [...new Set(wordsOf(sentence))];
    const rare = words.filter(isRare).sort((a, b) => frequency.get(a) - frequency.get(b)).slice(0, MOST_WORDS);
    if (words.length < 6 || words.length > 40 || rare.length < FEWEST_WORDS) continue;
    const frame = pick(FRAMES[rare.length]);
    const asked = rare.sort((a, b) => words.indexOf(a) - words.indexOf(b)).map((it) => (isName(it, sentence) ? it : inflected(it, frequency, random)));
    const question = frame.map((part, at) => (at < asked.length ? `${part} ${asked[at]}` : part)).join(" ").replace(" ?", "?");
    const whole = plain(sentence);
    const message_ids = mails.filter((it, at) => it.inbox === inbox && texts[at].includes(whole)).map((it) => it.id);
    questions.push({ question, inbox, message_ids });
  }
  if (questions.length < count) throw new Error(`${folder} has sentences for ${questions.length} questions only`);
  return questions;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder, count = "200", seed = "1"] = process.argv.slice(2);
  for (const it of makeQuestions(folder, Number(count), Number(seed))) console.log(JSON.stringify(it));
}

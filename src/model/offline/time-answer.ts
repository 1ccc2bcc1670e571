import type { Temporal } from 'temporal-polyfill';
import type { ReadReading } from './reading-text.ts';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const ELAPSED =
  /\b(?:how long|how much time|elapsed)\b.*\b(?:since|ago|passed|gone|away|elapsed|between|last|previous)\b|\bwhen did (?:i|we) last\b|\btime elapsed\b/su;
const ZONE = /\b(?:which|what|my|the) time ?zone\b|\btime ?zone (?:is|am|are|do)\b/u;
const RELATIVE =
  /\b(?:(?<after>day after tomorrow)|(?<before>day before yesterday)|(?<tomorrow>tomorrow)|(?<yesterday>yesterday)|in (?<ahead>\d{1,4}) days?|(?<back>\d{1,4}) days? ago)\b/gu;
const DAY =
  /\b(?:weekday|day of (?:the )?week|what day|which day|day is (?:it|today)|what(?:'s|’s| is)? (?:the |today's |today’s )?date|which date|today)\b/u;
const TIME =
  /\bwhat(?:'s|’s| is| are)? (?:the )?(?:current |exact |local )?time\b(?! ?zone)|\btime is it\b|\bcurrent time\b|\btime now\b|\bo'clock\b|\bnow\?/u;
const ZONE_NAME =
  /(?<![\w/])(?:(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)(?:\/[A-Za-z0-9_+-]*[A-Za-z0-9])+|UTC)(?![\w/])/giu;

/** The zone in which a question is answered. */
type Where =
  | { kind: 'reading' }
  | { kind: 'named'; name: string; clock: Temporal.PlainDateTime }
  | { kind: 'ask'; why: string }
  | { kind: 'unknown-name'; name: string };

/**
 * Answers what a prompt asks about time from one reading, a sentence for each question; empty where it asks nothing.
 * It never guesses: local dates without one clear zone are asked back, and what the reading does not say stays unsaid.
 * @param reading - the latest reading of the messages, or null where there is none
 */
export function timeAnswers(prompt: string, reading: ReadReading | null): string[] {
  const text = prompt.toLowerCase();
  const relative = [...text.matchAll(RELATIVE)];
  const asked = {
    elapsed: ELAPSED.test(text),
    zone: ZONE.test(text),
    day: relative.length === 0 && DAY.test(text),
    time: TIME.test(text),
  };
  // A day that is merely mentioned is no question.
  const askedRelative =
    relative.length > 0 && (DAY.test(text) || /\?|\bdate\b|\bday\b/u.test(text)) ? relative : [];
  if (!asked.elapsed && !asked.zone && !asked.day && !asked.time && askedRelative.length === 0) return [];
  if (!reading) return ['These messages hold no time reading, so I cannot say anything about time.'];

  const answers: string[] = [];
  const where = whereOf(prompt, reading);
  for (const match of askedRelative) answers.push(relativeDay(match, where, reading));
  if (asked.day) answers.push(day(where, reading));
  if (asked.time) answers.push(nowSentence(where, reading));
  if (asked.zone) answers.push(zone(reading));
  if (asked.elapsed) answers.push(elapsed(reading));
  return [...new Set(answers)];
}

/** The sentence that says the time now by a reading, in the zone that the prompt names if it names one. */
export function timeNow(prompt: string, reading: ReadReading): string {
  return nowSentence(whereOf(prompt, reading), reading);
}

function whereOf(prompt: string, reading: ReadReading): Where {
  const name = prompt.match(ZONE_NAME)?.at(-1);
  if (name) {
    try {
      const there = reading.instant.toZonedDateTimeISO(name);
      return { kind: 'named', name: there.timeZoneId, clock: there.toPlainDateTime() };
    } catch {
      return { kind: 'unknown-name', name };
    }
  }
  if (reading.zone.known) return { kind: 'reading' };
  const { names } = reading.zone;
  return {
    kind: 'ask',
    why:
      names.length > 0
        ? `this request has more than one time zone (${names.join(', ')}). Which one do you mean?`
        : 'this request names no time zone. Which one do you mean?',
  };
}

function relativeDay(match: RegExpMatchArray, where: Where, reading: ReadReading): string {
  const groups = match.groups!;
  const days = groups.after
    ? 2
    : groups.before
      ? -2
      : groups.tomorrow
        ? 1
        : groups.yesterday
          ? -1
          : groups.ahead
            ? Number(groups.ahead)
            : -Number(groups.back);
  const phrase = groups.after || groups.before ? `the ${match[0]}` : match[0];
  if (where.kind === 'ask') return `Which day ${phrase} is depends on the zone, and ${where.why}`;
  if (where.kind === 'unknown-name') return unknownZone(where.name);
  const { clock, zone } = clockOf(where, reading);
  const date = dateText(clock.toPlainDate().add({ days }));
  return `${phrase[0]!.toUpperCase()}${phrase.slice(1)} ${days < 0 ? 'was' : 'is'} ${date} (${zone}).`;
}

function day(where: Where, reading: ReadReading): string {
  if (where.kind === 'ask') return `Which day it is depends on the zone, and ${where.why}`;
  if (where.kind === 'unknown-name') return unknownZone(where.name);
  const { clock, zone } = clockOf(where, reading);
  return `Today is ${dateText(clock.toPlainDate())} (${zone}).`;
}

function nowSentence(where: Where, reading: ReadReading): string {
  if (where.kind === 'unknown-name') return unknownZone(where.name);
  if (where.kind === 'ask') {
    return `It is ${clockText(reading.clock.local)} by the clock of ${reading.clock.zone}, but ${where.why}`;
  }
  const { clock, zone } = clockOf(where, reading);
  return `It is ${clockText(clock)} (${zone}).`;
}

function clockOf(where: Extract<Where, { kind: 'reading' | 'named' }>, reading: ReadReading) {
  return where.kind === 'named'
    ? { clock: where.clock, zone: where.name }
    : { clock: reading.clock.local, zone: reading.clock.zone };
}

function zone(reading: ReadReading): string {
  if (reading.zone.known) return `The time zone is ${reading.zone.name}.`;
  const { names } = reading.zone;
  return names.length > 0
    ? `This request has more than one time zone: ${names.join(', ')}. Which one do you mean?`
    : 'This request names no time zone. Which one are you in?';
}

function elapsed({ elapsed }: ReadReading): string {
  if (elapsed.since === 'step') {
    return `The latest reading counts from the step before it (${elapsed.duration ?? 'unavailable'}), not from the last message, so I cannot say.`;
  }
  return elapsed.duration === null
    ? 'There is no earlier message to count from.'
    : `Since the last message before this one ${elapsed.duration} have passed.`;
}

function unknownZone(name: string): string {
  return `I do not know the time zone ${name}.`;
}

function dateText(date: Temporal.PlainDate): string {
  return `${WEEKDAYS[date.dayOfWeek - 1]}, ${date.day} ${MONTHS[date.month - 1]} ${date.year}`;
}

function clockText(clock: Temporal.PlainDateTime): string {
  return `${clock.toPlainTime().toString({ smallestUnit: 'second' })} on ${dateText(clock.toPlainDate())}`;
}

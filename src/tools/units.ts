/** A kind of quantity; only units of one quantity convert into each other. */
export const QUANTITIES = ['length', 'mass', 'temperature', 'volume', 'speed', 'data', 'duration'] as const;
export type Quantity = (typeof QUANTITIES)[number];

/** `base = value * factor + offset`, the base being metre, kilogram, kelvin, litre, metre per second, byte, second. */
export interface Unit {
  quantity: Quantity;
  /** The name that lists and answers show. */
  name: string;
  factor: number;
  offset: number;
}

const FOOT = 0.3048;
const INCH = FOOT / 12;
const MILE = 5280 * FOOT;
const NAUTICAL_MILE = 1852;
const POUND = 0.45359237;
const US_GALLON = 3.785411784;
const IMPERIAL_GALLON = 4.54609;

/** Name, factor to the base unit, other spellings. A spelling of two units is ambiguous and refused. */
type Row = [name: string, factor: number, ...spellings: string[]];

const TABLE: Record<Exclude<Quantity, 'temperature'>, Row[]> = {
  length: [
    ['nanometre', 1e-9, 'nm', 'nanometer'],
    ['micrometre', 1e-6, 'um', 'µm', 'micrometer', 'micron'],
    ['millimetre', 1e-3, 'mm', 'millimeter'],
    ['centimetre', 1e-2, 'cm', 'centimeter'],
    ['decimetre', 1e-1, 'dm', 'decimeter'],
    ['metre', 1, 'm', 'meter'],
    ['kilometre', 1e3, 'km', 'kilometer'],
    ['inch', INCH, 'in', 'inches', '"'],
    ['foot', FOOT, 'ft', 'feet'],
    ['yard', 3 * FOOT, 'yd'],
    ['mile', MILE, 'mi'],
    ['nautical mile', NAUTICAL_MILE, 'nmi', 'NM'],
  ],
  mass: [
    ['microgram', 1e-9, 'ug', 'µg', 'mcg'],
    ['milligram', 1e-6, 'mg'],
    ['gram', 1e-3, 'g', 'gramme'],
    ['kilogram', 1, 'kg', 'kilo', 'kilogramme'],
    ['tonne', 1e3, 't', 'metric ton', 'ton'],
    ['ounce', POUND / 16, 'oz'],
    ['pound', POUND, 'lb', 'lbs'],
    ['stone', 14 * POUND, 'st', 'stones'],
    ['short ton', 2000 * POUND, 'us ton', 'ton'],
    ['long ton', 2240 * POUND, 'imperial ton', 'ton'],
  ],
  volume: [
    ['millilitre', 1e-3, 'ml', 'milliliter', 'cc', 'cubic centimetre', 'cubic centimeter', 'cm3', 'cm³'],
    ['centilitre', 1e-2, 'cl', 'centiliter'],
    ['decilitre', 1e-1, 'dl', 'deciliter'],
    ['litre', 1, 'l', 'liter', 'cubic decimetre', 'cubic decimeter', 'dm3', 'dm³'],
    ['cubic metre', 1e3, 'm3', 'm³', 'cubic meter'],
    ['cubic inch', INCH ** 3 * 1e3, 'in3', 'in³', 'cubic inches'],
    ['cubic foot', FOOT ** 3 * 1e3, 'ft3', 'ft³', 'cubic feet'],
    ['teaspoon', US_GALLON / 768, 'tsp', 'us teaspoon'],
    ['tablespoon', US_GALLON / 256, 'tbsp', 'us tablespoon'],
    ['us fluid ounce', US_GALLON / 128, 'fl oz', 'fluid ounce', 'us fl oz'],
    ['us cup', US_GALLON / 16, 'cup'],
    ['us pint', US_GALLON / 8, 'pint', 'pt'],
    ['us quart', US_GALLON / 4, 'quart', 'qt'],
    ['us gallon', US_GALLON, 'gallon', 'gal', 'us gal'],
    ['imperial fluid ounce', IMPERIAL_GALLON / 160, 'fluid ounce', 'fl oz', 'imp fl oz', 'imperial fl oz'],
    ['imperial pint', IMPERIAL_GALLON / 8, 'pint', 'pt', 'imp pint'],
    ['imperial quart', IMPERIAL_GALLON / 4, 'quart', 'qt', 'imp quart'],
    ['imperial gallon', IMPERIAL_GALLON, 'gallon', 'gal', 'imp gal', 'imp gallon', 'imperial gal'],
  ],
  speed: [
    ['metre per second', 1, 'm/s', 'mps', 'meter per second', 'metres per second', 'meters per second'],
    [
      'kilometre per hour',
      1 / 3.6,
      'km/h',
      'kmh',
      'kph',
      'kilometer per hour',
      'kilometres per hour',
      'kilometers per hour',
    ],
    ['mile per hour', MILE / 3600, 'mph', 'mi/h', 'miles per hour'],
    ['foot per second', FOOT, 'ft/s', 'fps', 'feet per second'],
    ['knot', NAUTICAL_MILE / 3600, 'kn', 'kt', 'kts'],
  ],
  data: [
    ['bit', 1 / 8, 'b'],
    ['kilobit', 1e3 / 8, 'kbit', 'kb'],
    ['megabit', 1e6 / 8, 'Mbit', 'Mb'],
    ['gigabit', 1e9 / 8, 'Gbit', 'Gb'],
    ['terabit', 1e12 / 8, 'Tbit', 'Tb'],
    ['byte', 1, 'B'],
    ['kilobyte', 1e3, 'kB', 'KB'],
    ['megabyte', 1e6, 'MB'],
    ['gigabyte', 1e9, 'GB'],
    ['terabyte', 1e12, 'TB'],
    ['petabyte', 1e15, 'PB'],
    ['kibibyte', 2 ** 10, 'KiB'],
    ['mebibyte', 2 ** 20, 'MiB'],
    ['gibibyte', 2 ** 30, 'GiB'],
    ['tebibyte', 2 ** 40, 'TiB'],
    ['pebibyte', 2 ** 50, 'PiB'],
  ],
  // No month and no year: they have no fixed length.
  duration: [
    ['nanosecond', 1e-9, 'ns'],
    ['microsecond', 1e-6, 'us', 'µs'],
    ['millisecond', 1e-3, 'ms', 'msec'],
    ['second', 1, 's', 'sec'],
    ['minute', 60, 'min'],
    ['hour', 3600, 'h', 'hr'],
    ['day', 86_400, 'd'],
    ['week', 604_800, 'wk'],
  ],
};

const TEMPERATURES: [name: string, factor: number, offset: number, ...spellings: string[]][] = [
  [
    'celsius',
    1,
    273.15,
    'C',
    '°C',
    'degree celsius',
    'degrees celsius',
    'degree C',
    'degrees C',
    'deg C',
    'centigrade',
  ],
  [
    'fahrenheit',
    5 / 9,
    459.67 * (5 / 9),
    'F',
    '°F',
    'degree fahrenheit',
    'degrees fahrenheit',
    'degree F',
    'degrees F',
    'deg F',
  ],
  ['kelvin', 1, 0, 'K', '°K', 'degree kelvin', 'degrees kelvin', 'degree K', 'degrees K', 'deg K'],
];

const units: Unit[] = [];
const exact = new Map<string, Set<Unit>>();
const anyCase = new Map<string, Set<Unit>>();

for (const quantity of QUANTITIES) {
  if (quantity === 'temperature') {
    for (const [name, factor, offset, ...spellings] of TEMPERATURES) {
      add({ quantity, name, factor, offset }, spellings);
    }
  } else {
    for (const [name, factor, ...spellings] of TABLE[quantity]) {
      add({ quantity, name, factor, offset: 0 }, spellings);
    }
  }
}

function add(unit: Unit, spellings: string[]): void {
  units.push(unit);
  for (const spelling of [unit.name, ...spellings]) {
    // A plural of more than a symbol is the word with an s.
    for (const form of spelling.length > 2 ? [spelling, `${spelling}s`] : [spelling]) {
      setOf(exact, form).add(unit);
      setOf(anyCase, form.toLowerCase()).add(unit);
    }
  }
}

function setOf(map: Map<string, Set<Unit>>, key: string): Set<Unit> {
  const set = map.get(key) ?? new Set();
  map.set(key, set);
  return set;
}

/**
 * The units that a spelling may mean: none, one, or several where it is ambiguous. Letter case counts where two
 * units differ by it alone (`Mb` and `MB`), else it does not.
 */
export function unitsNamed(text: string): Unit[] {
  // MICRO SIGN and GREEK SMALL LETTER MU look the same; the table has the first.
  const spelling = text.trim().replace(/\s+/gu, ' ').replaceAll('μ', 'µ');
  return [...(exact.get(spelling) ?? anyCase.get(spelling.toLowerCase()) ?? [])];
}

/** Names of all units, of one quantity or of each. */
export function unitNames(quantity: Quantity): string[] {
  return units.filter((unit) => unit.quantity === quantity).map(({ name }) => name);
}

// The figures of any bets: of `data`, whose rows are `counts` and whose errors are `error`.
// The logarithm of the normal distribution function: a series, and a continued fraction in the tails.
const logNormal = x => {
  const logDensity = -x * x / 2 - Math.log(2 * Math.PI) / 2;
  if (Math.abs(x) < 3) {
    let term = x, sum = x;
    for (let n = 1; Math.abs(term) > 1e-17; n++) sum += term *= x * x / (2 * n + 1);
    return Math.log(0.5 + sum * Math.exp(logDensity));
  }
  let fraction = 0;
  for (let n = 200; n > 0; n--) fraction = n / (Math.abs(x) + fraction);
  const logTail = logDensity - Math.log(Math.abs(x) + fraction);
  return x < 0 ? logTail : Math.log1p(-Math.exp(logTail));
};

// The variance of a round on all spots, per spot and squared unit.
const spotVariance = row => row.var + (row.spots - 1) * row.cov;

// EV, standard deviation and their covariance matrix; the formulas of bjsim.strategies.counting.count_returns.
const returns = bets => {
  const sum = term => counts.reduce((total, row, i) => total + row.share * term(row, row.spots * bets[i], bets[i]), 0);
  const square = (row, all, bet) => all * bet * spotVariance(row) + (all * row.ev) ** 2;
  const ev = sum((row, all) => all * row.ev);
  const variance = sum(square) - ev * ev;
  const gradients = [[], []];
  counts.forEach((row, i) => {
    const all = row.spots * bets[i], mean = all * row.ev, weight = row.share * all, ofVariance = weight * bets[i];
    const gradient = [[mean, weight, 0, 0], [square(row, all, bets[i]) - 2 * ev * mean, 2 * weight * (mean - ev), ofVariance,
      ofVariance * (row.spots - 1)]];
    gradient.forEach((parts, k) => parts.slice(0, error.length / counts.length).forEach((part, kind) => {
      gradients[k][kind * counts.length + i] = part;
    }));
  });
  const products = gradients.map(one => error.map(line => line.reduce((total, cell, j) => total + cell * one[j], 0)));
  const covariance = gradients.map(one => products.map(other => one.reduce((total, part, j) => total + part * other[j], 0)));
  return {ev, sd: Math.sqrt(variance), covariance, bet: sum((row, all) => all),
    wagered: sum((row, all) => all * row.wagered), played: sum((row, all) => all > 0)};
};

// Half the 95% interval of a function of EV and standard deviation, by the delta method; NaN for those that are constant
// or infinite for a losing game, where the interval of EV contains 0.
const winners = ["score", "n0", "n0_hours", "ror"];
const halfWidth = (ramp, metric, key) => {
  if (winners.includes(key) && Math.abs(ramp.ev) <= Math.max(halfWidth(ramp, ev => ev), 1e-6 * ramp.sd)) return NaN;
  const variance = ramp.sd ** 2;
  const gradient = [[1e-6 * ramp.sd, 0], [0, 1e-6 * variance]].map(([e, v]) =>
    (metric(ramp.ev + e, Math.sqrt(variance + v)) - metric(ramp.ev - e, Math.sqrt(variance - v))) / (2 * (e + v)));
  const square = gradient.reduce((total, x, i) => total + gradient.reduce((t, y, j) => t + x * y * ramp.covariance[i][j], 0), 0);
  return data.z * Math.sqrt(Math.max(square, 0));
};

const metrics = (ramp, now) => {
  const bank = now.bankroll / now.unit, trip = now.hourly * data.trip_hours;
  const di = (ev, sd) => 1000 * ev / sd;
  return {
    ev_per_round: [ev => ev, 6], sd_per_round: [(ev, sd) => sd, 4], ev_per_hour: [ev => ev * now.hourly * now.unit, 4],
    sd_per_hour: [(ev, sd) => sd * Math.sqrt(now.hourly) * now.unit, 2], iba: [ev => ev / ramp.bet, 4, 100, "%"],
    tba: [ev => ev / ramp.wagered, 4, 100, "%"], di: [di, 3], score: [(ev, sd) => Math.max(di(ev, sd), 0) ** 2, 3],
    n0: [(ev, sd) => ev > 0 ? (sd / ev) ** 2 : Infinity, 0],
    n0_hours: [(ev, sd) => ev > 0 ? (sd / ev) ** 2 / now.hourly : Infinity, 1],
    trip_ahead: [(ev, sd) => Math.exp(logNormal(ev * Math.sqrt(trip) / sd)), 2, 100, "%"],
    ror: [(ev, sd) => ev > 0 ? Math.exp(-2 * ev * bank / sd ** 2) : 1, 4, 100, "%"],
    trip_ror: [(ev, sd) => {
      const spread = sd * Math.sqrt(trip), reflected = -2 * ev * bank / sd ** 2 + logNormal((-bank + ev * trip) / spread);
      return Math.min(Math.exp(logNormal((-bank - ev * trip) / spread)) + Math.exp(Math.min(reflected, 0)), 1);
    }, 4, 100, "%"],
    ce_per_hour: [(ev, sd) => now.hourly * now.unit * (ev - sd ** 2 / (2 * now.kelly * bank)), 4],
  };
};

// The bets with the highest certainty equivalent: bankroll * Kelly fraction * EV / variance of a spot, within the limits.
const optimal = (now, rows = counts) => rows.map(row => {
  if (row.count < now.wait) return 0;
  const limited = Math.min(Math.max(now.kelly * now.bankroll / now.unit * row.ev / spotVariance(row), now.low), now.high);
  const chips = Math.floor(limited / now.chip + 0.5);
  return Math.min(Math.max(chips, Math.ceil(now.low / now.chip - 1e-9)), Math.floor(now.high / now.chip + 1e-9)) * now.chip;
});

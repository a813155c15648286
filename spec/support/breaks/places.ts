// Where a small break of the code is possible, and what it would be. Pure: no I/O.
//
// no-words: Types, texts of errors and what is only logged are left alone, for no test should depend on them.
// harmless: The arguments of `kill` are left alone: another number there could end a process that is not ours.
import {
  type BinaryExpression,
  type Expression,
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isBreakStatement,
  isCallExpression,
  isConditionalExpression,
  isContinueStatement,
  isExpressionStatement,
  isForStatement,
  isIdentifier,
  isIfStatement,
  isImportDeclaration,
  isNewExpression,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPrivateIdentifier,
  isPropertyAccessExpression,
  isReturnStatement,
  isStringLiteral,
  isTemplateSpan,
  isThrowStatement,
  isTypeNode,
  isWhileStatement,
  type Node,
  type SourceFile,
  type Statement,
  SyntaxKind,
} from 'typescript/unstable/ast';

export const KINDS = ['negated', 'comparison', 'await', 'constant', 'and-or', 'early-return', 'statement', 'not', 'plus-minus'] as const;
export type Kind = (typeof KINDS)[number];

/** One break: the characters from `start` to `end` of the file are replaced by `after`. */
export interface Break {
  /** A path from the root of the repository. */
  readonly file: string;
  readonly line: number;
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

const SWAPPED = new Map<SyntaxKind, readonly [kind: Kind, operator: string]>([
  [SyntaxKind.LessThanToken, ['comparison', '<=']],
  [SyntaxKind.LessThanEqualsToken, ['comparison', '<']],
  [SyntaxKind.GreaterThanToken, ['comparison', '>=']],
  [SyntaxKind.GreaterThanEqualsToken, ['comparison', '>']],
  [SyntaxKind.AmpersandAmpersandToken, ['and-or', '||']],
  [SyntaxKind.BarBarToken, ['and-or', '&&']],
  [SyntaxKind.PlusToken, ['plus-minus', '-']],
  [SyntaxKind.MinusToken, ['plus-minus', '+']],
  [SyntaxKind.PlusEqualsToken, ['plus-minus', '-=']],
  [SyntaxKind.MinusEqualsToken, ['plus-minus', '+=']],
]);
const EQUALITIES = [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken];
const LOG_METHODS = ['debug', 'info', 'warn', 'error', 'write'];
/** A string decides something in a comparison, or as the argument of one of these. */
const ASKING_METHODS = ['startsWith', 'endsWith', 'includes', 'has', 'indexOf'];

/** All breaks that are possible in a file, in the order of the text. */
export function placesIn(file: string, source: SourceFile): Break[] {
  const { text } = source;
  const found: Break[] = [];
  const visit = (node: Node): void => {
    if (isLeftAlone(node)) return;
    for (const [kind, part, after] of breaksOf(node)) {
      const [start, end] = [part.getStart(source), part.getEnd()];
      found.push({ file, line: text.slice(0, start).split('\n').length, kind, start, end, before: text.slice(start, end), after });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** The text of a file with the break. */
export function broken(text: string, { start, end, after }: Break): string {
  return text.slice(0, start) + after + text.slice(end);
}

function isLeftAlone(node: Node): boolean {
  if (isTypeNode(node) || isImportDeclaration(node) || isTemplateSpan(node)) return true;
  if (node.kind === SyntaxKind.InterfaceDeclaration || node.kind === SyntaxKind.TypeAliasDeclaration) return true;
  // The code of an error decides things, and is no number or boolean; its text may be put together of such.
  if (isNewExpression(node)) return /(?:Error|Failure|Fault)$/.test(node.expression.getText());
  return isCallExpression(node) && (isLogged(node.expression) || /\bkill$/.test(node.expression.getText())); // harmless
}

function isLogged(called: Expression): boolean {
  return isPropertyAccessExpression(called) && LOG_METHODS.includes(called.name.getText()) && /#?\blog(?:ger)?\??$/.test(called.expression.getText());
}

type Change = readonly [kind: Kind, part: Node, after: string];

function breaksOf(node: Node): Change[] {
  if (isIfStatement(node)) return [...negated(node.expression), ...withoutEarlyReturn(node, node.thenStatement, node.elseStatement)];
  if (isConditionalExpression(node)) return negated(node.condition);
  if (isWhileStatement(node)) return negated(node.expression);
  if (isForStatement(node)) return node.condition === undefined ? [] : negated(node.condition);
  if (isBinaryExpression(node)) return swapped(node);
  if (isAwaitExpression(node)) return [['await', node, `(${node.expression.getText()})`]];
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) return [['not', node, `!!${node.operand.getText()}`]];
  if (isExpressionStatement(node)) return withoutCall(node.expression, node);
  return constants(node);
}

function negated(condition: Expression): Change[] {
  return [['negated', condition, `!(${condition.getText()})`]];
}

function swapped({ operatorToken, left, right }: BinaryExpression): Change[] {
  const change = SWAPPED.get(operatorToken.kind);
  if (change !== undefined) return [[change[0], operatorToken, change[1]]];
  if (!EQUALITIES.includes(operatorToken.kind)) return [];
  return [left, right].filter(isStringLiteral).map((text): Change => ['constant', text, emptied(text)]);
}

/** `if (…) return …;`, and with another jump. */
function withoutEarlyReturn(whole: Statement, then: Statement, otherwise: Statement | undefined): Change[] {
  const last = isBlock(then) ? then.statements.at(-1) : then;
  const jumps = last !== undefined && [isReturnStatement, isThrowStatement, isContinueStatement, isBreakStatement].some((is) => is(last));
  return jumps && otherwise === undefined ? [['early-return', whole, ';']] : [];
}

function withoutCall(expression: Expression, statement: Statement): Change[] {
  const called = isAwaitExpression(expression) ? expression.expression : expression;
  if (!isCallExpression(called) || called.expression.kind === SyntaxKind.SuperKeyword || isLogged(called.expression)) return [];
  return [['statement', statement, ';']];
}

function constants(node: Node): Change[] {
  if (isNumericLiteral(node)) return [['constant', node, shifted(node.getText())]];
  if (node.kind === SyntaxKind.TrueKeyword) return [['constant', node, 'false']];
  if (node.kind === SyntaxKind.FalseKeyword) return [['constant', node, 'true']];
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return [];
  const { name } = node.expression;
  if (!(isIdentifier(name) || isPrivateIdentifier(name)) || !ASKING_METHODS.includes(name.getText())) return [];
  return node.arguments.filter(isStringLiteral).map((text): Change => ['constant', text, emptied(text)]);
}

/** One more; what is small and no whole number is doubled. */
function shifted(text: string): string {
  const value = Number(text.replaceAll('_', ''));
  return Number.isInteger(value) ? String(value + 1) : String(value * 2);
}

function emptied(text: Node): string {
  return text.getText().length > 2 ? "''" : "'?'";
}

// The types of page.mjs, for the tests.

export declare const root: string;
export declare const MOST_BYTES: number;
export declare function page(): Promise<Map<string, Buffer>>;
export declare function built(): Promise<Map<string, Buffer>>;
export declare function compressed(files: Map<string, Buffer>): number;
export declare function differences(wanted: Map<string, Buffer>): Promise<string[]>;

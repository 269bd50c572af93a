// Nothing of its own: a target needs a source to own precompiled headers.
